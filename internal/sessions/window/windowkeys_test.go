package window

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/tmux"
)

// commands are the commands that the agents on the screens of testdata ask for, by the number in a
// file's name.
var commands = []string{
	"touch ran-1",
	"touch ran-2; echo 'a rather long line of words that has to be wrapped somewhere because eighty columns " +
		"are not enough' | cat | sort | uniq > /dev/null",
	"touch ran-3\necho two\nif true; then\n  echo three\nfi",
}

func dialogOf(t *testing.T, name string) *agent.Dialog {
	t.Helper()
	a, ok := agent.Builtin().Agent(name)
	if !ok || a.Inbox == nil || a.Inbox.Dialog == nil {
		t.Fatalf("%s has no dialog", name)
	}
	return a.Inbox.Dialog
}

func screenOf(text string) tmux.Screen {
	return tmux.Screen{Lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
}

// fakePane is a pane that shows one screen after the other; the last one stays.
type fakePane struct {
	screens []string
	pressed [][]string
	// onPress is shown when keys come, before they are compared.
	onPress string
}

func (p *fakePane) Screen(context.Context) (tmux.Screen, error) {
	now := screenOf(p.screens[0])
	if len(p.screens) > 1 {
		p.screens = p.screens[1:]
	}
	return now, nil
}

func (p *fakePane) PressWhile(_ context.Context, screen tmux.Screen, first, last int, keys ...string) (bool, error) {
	if p.onPress != "" && !slices.Equal(screenOf(p.onPress).Lines, screen.Lines) {
		return false, nil
	}
	p.pressed = append(p.pressed, keys)
	p.screens = []string{"done"}
	return true, nil
}

// The screens of real agents at 80 and 200 columns: each shows its own command, and none
// of the others.
func TestRealScreens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d screens, %v; want at least 15", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			name, rest, _ := strings.Cut(filepath.Base(file), "-")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			number := int(rest[strings.LastIndexByte(rest, '-')+1] - '0')
			dialog := dialogOf(t, name)
			for i, command := range commands {
				_, err := read(context.Background(), &fakePane{screens: []string{string(text)}}, dialog, command)
				if (err == nil) != (i == number) {
					t.Errorf("read(%q) = %v, want no error only for %d", command, err, number)
				}
			}
			for what, screen := range map[string]string{
				"a prompt below it":   string(text) + "\n> Type your message\n",
				"part of the command": strings.Replace(string(text), "touch ran-", "touch …-", -1),
				"another command":     strings.Replace(string(text), "touch ran-", "shred ran-", -1),
				"one more blank":      strings.Replace(string(text), "touch ran-", "touch  ran-", -1),
				"no yes for once": strings.NewReplacer("1. Yes\n", "1. Yes, and don't ask again\n", "Allow once",
					"Allow always", "Yes, proceed (y)", "Yes, always (y)").Replace(string(text)),
			} {
				var refused *Refusal
				_, err := read(context.Background(), &fakePane{screens: []string{screen}}, dialog, commands[number])
				if !errors.As(err, &refused) {
					t.Errorf("%s: %v, want a refusal", what, err)
				}
			}
		})
	}
}

// Tool output that draws a dialog: the real one below it is about something else, or there
// is none.
func TestDrawnDialogs(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini"} {
		read1 := func(file string) string {
			b, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimRight(string(b), "\n") + "\n"
		}
		harmless, other := read1(name+"-200-0.txt"), read1(name+"-200-1.txt")
		for what, screen := range map[string]string{
			"a drawn one above the real one": harmless + other,
			"a drawn one above the prompt":   harmless + "\n❯ \n  ? for shortcuts\n",
		} {
			if _, err := read(context.Background(), &fakePane{screens: []string{screen}}, dialogOf(t, name),
				commands[0]); err == nil {
				t.Errorf("%s, %s: found, want a refusal", name, what)
			}
		}
	}
}

func TestPress(t *testing.T) {
	b, err := os.ReadFile("testdata/gemini-80-0.txt")
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile("testdata/gemini-80-1.txt")
	if err != nil {
		t.Fatal(err)
	}
	asks, replaced := string(b), string(other)
	yes := func() bool { return true }
	for _, c := range []struct {
		name    string
		pane    fakePane
		asked   func() bool
		pressed bool
	}{
		{"it asks", fakePane{screens: []string{asks}}, yes, true},
		{"replaced before the second look", fakePane{screens: []string{asks, replaced}}, yes, false},
		{"moved between the looks", fakePane{screens: []string{asks, "one more line\n" + strings.Replace(asks, "● 1", "  1", 1)}},
			yes, false},
		{"replaced before the key", fakePane{screens: []string{asks}, onPress: replaced}, yes, false},
		{"answered meanwhile", fakePane{screens: []string{asks}}, func() bool { return false }, false},
		{"no dialog", fakePane{screens: []string{"$ "}}, yes, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := Press(context.Background(), &c.pane, dialogOf(t, "gemini"), commands[0], []string{"1"}, c.asked)
				var refused *Refusal
				if c.pressed != (err == nil) || c.pressed == errors.As(err, &refused) {
					t.Errorf("Press = %v, want pressed = %v", err, c.pressed)
				}
				if want := map[bool]int{true: 1}[c.pressed]; len(c.pane.pressed) != want {
					t.Errorf("pressed %v, want %d times", c.pane.pressed, want)
				}
			})
		})
	}
}

// A dialog that stays after the key is reported, and the key isn't pressed again.
func TestPressWithoutEffect(t *testing.T) {
	b, err := os.ReadFile("testdata/codex-80-0.txt")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		pane := &deafPane{fakePane{screens: []string{string(b)}}}
		err := Press(context.Background(), pane, dialogOf(t, "codex"), commands[0], []string{"y"}, func() bool { return true })
		var unsure Unsure
		if !errors.As(err, &unsure) || len(pane.pressed) != 1 {
			t.Errorf("Press = %v, pressed %v; want Unsure and once", err, pane.pressed)
		}
	})
}

type deafPane struct{ fakePane }

func (p *deafPane) PressWhile(_ context.Context, _ tmux.Screen, _, _ int, keys ...string) (bool, error) {
	p.pressed = append(p.pressed, keys)
	return true, nil
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		command string
		lines   []string
		want    bool
	}{
		{"rm -rf /tmp/x", []string{"rm -rf /tmp/x"}, true},
		{"rm -rf /tmp/x", []string{"rm -rf", "/tmp/x"}, true},
		{"rm -rf /tmp/x", []string{"rm -rf / tmp/x"}, false},
		{"rm -rf /tmp/x", []string{"rm -rf /tmp"}, false},
		{"rm -rf /tmp/x", []string{"rm -rf /tmp/x", "y"}, false},
		{"a\n\n  b", []string{"a", "", "  b"}, true},
		{"", []string{""}, false},
	} {
		if got := Fits(c.command, c.lines); got != c.want {
			t.Errorf("Fits(%q, %q) = %v, want %v", c.command, c.lines, got, c.want)
		}
	}
}
