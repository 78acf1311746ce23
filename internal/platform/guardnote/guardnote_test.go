package guardnote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// newState returns a state folder with a key.
func newState(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	if err := os.WriteFile(paths.KeyBeside(File(state)), []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	return state
}

func TestWrittenNoteIsReadBack(t *testing.T) {
	state := newState(t)
	want := []Cover{{Any, "tool.before"}, {Any, "tool.permission.request"}, {"claude", "UserPromptSubmit"}}
	for range 2 {
		if err := Write(state, []Cover{want[2], want[1], want[0], want[2]}); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(state); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
	if err := Write(state, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(state); err != nil || len(got) != 0 {
		t.Errorf("an empty list came back as %v, %v", got, err)
	}
	entries, err := os.ReadDir(state)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v; want the key and the note alone", entries, err)
	}
}

func TestListThatDoesNotFitCoversEverything(t *testing.T) {
	var many []Cover
	for i := range maxCovers + 1 {
		many = append(many, Cover{"agent", fmt.Sprint("Event", i)})
	}
	for name, list := range map[string][]Cover{
		"many": many, "long": {{"agent", strings.Repeat("x", maxSize)}}, "odd": {{"two words", "Event"}}, "empty": {{"", ""}},
	} {
		state := newState(t)
		if err := Write(state, list); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(state); err != nil || !Covers(got, "anybody", "Anything", "") {
			t.Errorf("%s: %v, %v; want everything to be covered", name, got, err)
		}
	}
}

func TestDamagedNoteIsNotBelieved(t *testing.T) {
	whole := string(formatNote(Builtin(), 1, nil))
	const end = "written 1\nseal none\nend\n"
	for _, text := range []string{
		"", "end\n", "hookmux guards 1\nend\n", "hookmux guards 1\n" + end, "hookmux guards 2\n", "hookmux guards 2\nend",
		"hookmux guards 2\nend\n", whole[:len(whole)-1], whole[:20], "hookmux guards 2\none\n" + end,
		"hookmux guards 2\na b c\n" + end, "hookmux guards 2\n\n" + end, "hookmux guards 2\na b" + end,
		"hookmux guards 2\nwritten 01\nseal none\nend\n", "hookmux guards 2\nwritten 1\nend\n",
		"hookmux guards 2\nseal none\nend\n", "hookmux guards 2\nwritten 1\nseal \nend\n", "\x00" + whole, whole + "more\n",
	} {
		if got, err := parseNote(text); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q was read as %v, %v", text, got, err)
		}
	}
	state := newState(t)
	if _, err := Read(state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no note: %v; want err to be os.ErrNotExist", err)
	}
	if err := os.Symlink("/dev/zero", File(state)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(state); err == nil {
		t.Error("a link was followed")
	}
	if err := Write(state, Builtin()); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(state); err != nil || !reflect.DeepEqual(got, Builtin()) {
		t.Errorf("after writing over a link: %v, %v", got, err)
	}
}

// What a note lists counts whoever wrote it. That it lists nothing else counts only where
// hookmux wrote it after the settings in force.
func TestNoteThatIsNotHookmuxsOrOld(t *testing.T) {
	edit := func(old, new string) func(*testing.T, string) {
		return func(t *testing.T, state string) {
			text, err := os.ReadFile(File(state))
			changed := strings.Replace(string(text), old, new, 1)
			if err != nil || changed == string(text) {
				t.Fatalf("%q has no %q (%v)", text, old, err)
			}
			if err := os.WriteFile(File(state), []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	later := func(name string) func(*testing.T, string) {
		return func(t *testing.T, state string) {
			file := filepath.Join(state, name)
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(time.Hour)
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*testing.T, string)
		want   error
	}{
		"a line was added":          {edit("\nwritten", "\nb c\nwritten"), ErrUnsealed},
		"the time was changed":      {edit("written 1", "written 2"), ErrUnsealed},
		"the seal was changed":      {edit("\nseal ", "\nseal 0"), ErrUnsealed},
		"the settings are newer":    {later("accepted.json"), ErrOld},
		"the installation is newer": {later("installation"), ErrOld},
		"the key is gone": {func(t *testing.T, state string) {
			if err := os.Remove(paths.KeyBeside(File(state))); err != nil {
				t.Fatal(err)
			}
		}, ErrUnsealed},
	} {
		state := newState(t)
		list := []Cover{{"claude", "UserPromptSubmit"}}
		if err := Write(state, list); err != nil {
			t.Fatal(err)
		}
		c.change(t, state)
		got, err := Read(state)
		if !errors.Is(err, c.want) || !Covers(got, "claude", "UserPromptSubmit", "") {
			t.Errorf("%s: %v, %v; want what is listed and %v", name, got, err, c.want)
		}
		if name == "the key is gone" {
			continue
		}
		if err := Write(state, list); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(state); err != nil || !reflect.DeepEqual(got, list) {
			t.Errorf("%s, written again: %v, %v", name, got, err)
		}
	}
}

func TestCovers(t *testing.T) {
	list := append(Builtin(), Cover{"claude", "UserPromptSubmit"}, Cover{"mine", Any})
	for _, c := range []struct {
		agent, native, kind string
		want                bool
	}{
		{"claude", "PreToolUse", "tool.before", true},
		{"claude", "UserPromptSubmit", "turn.start", true},
		{"codex", "UserPromptSubmit", "turn.start", false},
		{"mine", "Whatever", "", true},
		{"unknown", "Whatever", "", false},
		{"claude", "Notification", "user.attention", false},
	} {
		if got := Covers(list, c.agent, c.native, c.kind); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.agent, c.native, got, c.want)
		}
	}
}

func FuzzParseNote(f *testing.F) {
	f.Add(string(formatNote(Builtin(), 1, nil)))
	f.Add(string(formatNote(nil, 1, []byte("key"))))
	f.Fuzz(func(t *testing.T, text string) {
		n, err := parseNote(text)
		if err != nil {
			return
		}
		if again := string(formatNote(n.covers, n.at, nil)); strings.Replace(again, "\nseal none\n", "\nseal "+n.seal+"\n", 1) != text {
			t.Errorf("%q was read as %v, which is written as %q", text, n, again)
		}
	})
}
