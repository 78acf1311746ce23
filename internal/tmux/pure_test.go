package tmux

import (
	"testing"

	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestFromEnv(t *testing.T) {
	for tmux, want := range map[string]string{
		"/tmp/tmux-0/default,123,0": "/tmp/tmux-0/default",
		"/tmp/a,b/s,123,0":          "/tmp/a,b/s",
		"":                          "",
		"nonsense":                  "",
		",,":                        "",
	} {
		if got := FromEnv(env("TMUX", tmux)).Socket; got != want {
			t.Errorf("%q: %q, want %q", tmux, got, want)
		}
	}
}

func TestWhere(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want Place
	}{
		{nil, Place{}},
		{[]string{"TMUX", "/s,1,0", "TMUX_PANE", "%3", "KITTY_WINDOW_ID", "4"}, Place{"tmux", "%3", "/s"}},
		{[]string{"TMUX_PANE", "%3"}, Place{}},
		{[]string{"TMUX", "/s,1,0", "TMUX_PANE", "%3;x"}, Place{}},
		{[]string{"ZELLIJ_PANE_ID", "2", "ZELLIJ_SESSION_NAME", "work", "WEZTERM_PANE", "9"}, Place{"zellij", "2", "work"}},
		{[]string{"ZELLIJ_PANE_ID", "2", "ZELLIJ_SESSION_NAME", "a\x1bb"}, Place{"zellij", "2", ""}},
		{[]string{"WEZTERM_PANE", "9"}, Place{"wezterm", "9", ""}},
		{[]string{"KITTY_WINDOW_ID", "4"}, Place{"kitty", "4", ""}},
		{[]string{"KITTY_WINDOW_ID", "four"}, Place{}},
		{[]string{"KITTY_WINDOW_ID", "4", "KITTY_LISTEN_ON", "unix:@kitty-7"}, Place{"kitty", "4", "unix:@kitty-7"}},
		{[]string{"KITTY_WINDOW_ID", "4", "KITTY_LISTEN_ON", "tcp:192.0.2.1:5"}, Place{"kitty", "4", ""}},
		{[]string{"WEZTERM_PANE", "9", "WEZTERM_UNIX_SOCKET", "/run/wez/gui-7"}, Place{"wezterm", "9", "/run/wez/gui-7"}},
		{[]string{"WEZTERM_PANE", "9", "WEZTERM_UNIX_SOCKET", "-x"}, Place{"wezterm", "9", ""}},
		{[]string{"ZELLIJ_PANE_ID", "2", "ZELLIJ_SESSION_NAME", "--data-dir"}, Place{"zellij", "2", ""}},
		{[]string{"ITERM_SESSION_ID", "w0t1p2:0A1B"}, Place{"iterm2", "w0t1p2", ""}},
		{[]string{"ITERM_SESSION_ID", "w$(id):0A1B"}, Place{}},
	} {
		if got := Where(env(c.env...)); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.env, got, c.want)
		}
	}
}

func TestFindAsksTheProcesses(t *testing.T) {
	table := proctest.New(proctest.Node{PID: 1, Name: "init", Below: []proctest.Node{
		{PID: 10, Name: "tmux: server", TTY: proctest.None, Below: []proctest.Node{
			{PID: 20, Name: "bash", TTY: "/dev/pts/1", Session: true, Below: []proctest.Node{
				{PID: 21, Name: "claude", Group: true, Below: []proctest.Node{
					{PID: 22, Name: "hook", TTY: proctest.None, Session: true},
					{PID: 23, Name: "script", Below: []proctest.Node{{PID: 24, Name: "sh", TTY: "/dev/pts/9", Session: true}}},
				}},
			}},
			{PID: 30, Name: "bash", TTY: "/dev/pts/2", Session: true},
		}},
		{PID: 40, Name: "sshd", TTY: "/dev/pts/3", Session: true},
	}})
	panes := []Pane{{ID: "%1", PID: 20, TTY: "/dev/pts/1"}, {ID: "%2", PID: 30, TTY: "/dev/pts/2"},
		{ID: "%3", PID: 99, TTY: "/dev/pts/3", Dead: true}}
	for _, c := range []struct {
		what string
		hint Hint
		want string
	}{
		{"by its terminal", Hint{PID: 21}, "%1"},
		{"and its variable", Hint{PID: 21, Pane: "%1"}, "%1"},
		{"the variable lies", Hint{PID: 21, Pane: "%2"}, "%1"},
		{"without a terminal, by what is above", Hint{PID: 22, Pane: "%2"}, "%1"},
		{"on a terminal below the pane", Hint{PID: 24}, "%1"},
		{"in no pane", Hint{PID: 40, Pane: "%1"}, ""},
		{"a dead pane with a terminal used again", Hint{PID: 40, Pane: "%3"}, ""},
		{"unknown process", Hint{PID: 77, Pane: "%1"}, ""},
		{"the server itself", Hint{PID: 10}, ""},
	} {
		got, _ := Find(panes, table, c.hint)
		if got.ID != c.want {
			t.Errorf("%s: %q, want %q", c.what, got.ID, c.want)
		}
	}
}

func TestInteractive(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{nil, true}, {[]string{"-l"}, true}, {[]string{"--rcfile", "x"}, true}, {[]string{"-i", "-o", "vi"}, true},
		{[]string{"sh"}, true}, {[]string{"-c", "x"}, false}, {[]string{"-lc", "x"}, false}, {[]string{"script"}, false},
	} {
		if got := isInteractive(c.args); got != c.want {
			t.Errorf("%v: isInteractive(c.args) = %v, want %v", c.args, got, c.want)
		}
	}
}
