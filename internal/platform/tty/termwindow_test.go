package tty

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// standIn returns a program in the place of a terminal's: it notes what it is asked, and
// answers a question with a text.
func standIn(t *testing.T, name, answer string) (heard func() string, folder string) {
	t.Helper()
	folder = t.TempDir()
	log := filepath.Join(folder, "heard")
	script := "#!/bin/sh\nprintf '%s|' \"$WEZTERM_UNIX_SOCKET\" \"$@\" >>" + log + "; echo >>" + log +
		"\ncat <<'END'\n" + answer + "\nEND\n"
	if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755); err != nil {
		t.Fatalf("no stand-in: %v", err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("WEZTERM_UNIX_SOCKET", "/of/the/shell")
	return func() string {
		b, _ := os.ReadFile(log)
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		return lines[len(lines)-1]
	}, folder
}

// The commands are those of each terminal's documentation; only kitty's are held against
// the program itself (TestRealKitty).
func TestFocus(t *testing.T) {
	table := proctest.New(proctest.Node{PID: 1, Name: "init", Below: []proctest.Node{
		{PID: 20, Name: "sh", Below: []proctest.Node{{PID: 21, Name: "claude"}}}, {PID: 30, Name: "sh"}}})
	const kitty = `[{"tabs":[{"windows":[{"id":3,"pid":20},{"id":4,"pid":30}]}]}]`
	const wezterm = `[{"pane_id":7,"tty_name":"/dev/pts/2"},{"pane_id":8,"tty_name":"/dev/pts/3"}]`
	for name, c := range map[string]struct {
		window  Window
		program string
		answer  string
		want    string // the last command
		err     string
	}{
		"kitty": {Window{"kitty", "3", "unix:@k", "", 21}, "kitty", kitty,
			"/of/the/shell|@|--to|unix:@k|focus-window|--match|id:3|", ""},
		"kitty without the agent": {Window{"kitty", "4", "unix:@k", "", 21}, "kitty", kitty,
			"/of/the/shell|@|--to|unix:@k|ls|", "kitty 4; another program sits there"},
		"kitty without commands": {Window{"kitty", "3", "", "", 21}, "kitty", kitty, "", "kitty 3; `allow_remote_control"},
		"kitty with nonsense":    {Window{"kitty", "3", "unix:@k", "", 21}, "kitty", "?", "/of/the/shell|@|--to|unix:@k|ls|", "in another way"},
		"wezterm": {Window{"wezterm", "7", "/run/w", "/dev/pts/2", 21}, "wezterm", wezterm,
			"/run/w|cli|--no-auto-start|activate-pane|--pane-id|7|", ""},
		"wezterm without the agent": {Window{"wezterm", "8", "/run/w", "/dev/pts/2", 21}, "wezterm", wezterm,
			"/run/w|cli|--no-auto-start|list|--format|json|", "wezterm 8; another program sits there"},
		"zellij": {Window{"zellij", "5", "work", "", 21}, "zellij", "",
			"/of/the/shell|--session|work|action|focus-pane-id|terminal_5|", ""},
		"zellij without a name": {Window{"zellij", "5", "", "", 21}, "zellij", "", "", "is not known"},
		"another terminal":      {Window{"foot", "5", "", "", 21}, "foot", "", "", "it sits in foot 5, which takes no commands"},
	} {
		heard, _ := standIn(t, c.program, c.answer)
		err := (&Terminals{Processes: table}).Focus(context.Background(), c.window)
		if got := heard(); got != c.want {
			t.Errorf("%s: the last command is %q, want %q", name, got, c.want)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", name, err, c.err)
		}
	}
}

// iTerm2 is found by the terminal, which is an argument and never part of the script.
func TestFocusITerm(t *testing.T) {
	heard, folder := standIn(t, "osascript", "")
	d := &Terminals{Script: filepath.Join(folder, "osascript")}
	if err := d.Focus(context.Background(), Window{Kind: "iterm2", ID: "w0t0p0", TTY: `/dev/ttys"1`}); err != nil {
		t.Fatalf("the stand-in failed: %v", err)
	}
	if got := heard(); !strings.HasSuffix(got, `end run|--|/dev/ttys"1|`) || strings.Contains(itermScript, "ttys") {
		t.Errorf("the script ends with %q, want the terminal as its argument", got)
	}
	if err := (&Terminals{}).Focus(context.Background(), Window{Kind: "iterm2", ID: "w0t0p0", TTY: "/dev/x"}); err == nil {
		t.Error("iTerm2 was reached without osascript")
	}
}

// A terminal whose program is not here says so, with where the agent is.
func TestFocusWithoutProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := (&Terminals{}).Focus(context.Background(), Window{Kind: "zellij", ID: "5", Server: "work"})
	if err == nil || err.Error() != "it sits in zellij 5; zellij is not on PATH" {
		t.Errorf("error %v, want where it is and that zellij is not on PATH", err)
	}
}
