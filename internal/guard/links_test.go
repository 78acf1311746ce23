package guard

import (
	"path"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/guard/inspect"
)

// fakeLinks stands for a disk with a few links on it.
func fakeLinks(links map[string]string) func(string) string {
	return func(p string) string {
		for from, to := range links {
			if inspect.IsUnder(p, from) {
				return path.Clean(to + strings.TrimPrefix(p, from))
			}
		}
		return p
	}
}

func TestLinksAreFollowed(t *testing.T) {
	opt := Options{
		OwnPaths: []string{"/home/dev/.claude/settings.json"},
		Resolve: fakeLinks(map[string]string{
			"/home/dev/app/alias":   "/home/dev/app/.claude",
			"/home/dev/app/h":       "/home/dev/app/.hookmux/hooks.json",
			"/home/dev/app/plain":   "/home/dev/app/.env",
			"/home/dev/app/keys":    "/home/dev/.ssh",
			"/home/dev/app/tool":    "/usr/local/bin/hookmux-hook",
			"/home/dev/app/lib":     "/home/dev/shared/lib",
			"/home/dev/.claude":     "/home/dev/dotfiles/claude",
			"/home/dev/app/deep/up": "/home/dev",
		}),
	}
	own, sec := NewOwnFiles(opt), NewSecrets(opt)
	file := func(kind string, reads, writes []string) Call {
		return Call{ToolKind: kind, Reads: reads, Writes: writes, Cwd: "/home/dev/app", Project: "/home/dev/app",
			Home: "/home/dev"}
	}
	tests := []struct {
		g    *Guard
		call Call
		want string
	}{
		{own, file("file_write", nil, []string{"alias/settings.json"}), "own-files.write"},
		{own, file("file_edit", nil, []string{"/home/dev/app/h"}), "own-files.write"},
		{own, file("file_write", nil, []string{"tool"}), "own-files.write"},
		{own, file("file_write", nil, []string{"/home/dev/dotfiles/claude/settings.json"}), "own-files.write"},
		{own, file("file_write", nil, []string{"lib/a.go", "alias/notes.md", "h2"}), ""},
		{own, file("file_read", []string{"h"}, nil), ""},
		{own, shellCall("echo '{}' > h"), "own-files.write"},
		{own, shellCall("tee h < x"), "own-files.write"},
		{own, shellCall("cp x h"), "own-files.write"},
		{own, shellCall("cp settings.json alias"), "own-files.write"},
		{own, shellCall("echo x > deep/up/.codex/hooks.json"), "own-files.write"},
		{own, shellCall("rm alias/settings.json"), "own-files.delete"},
		{own, shellCall("rm -rf alias/"), "own-files.delete"},
		{own, shellCall("rm alias"), ""}, // only the link goes
		{own, shellCall("echo x > lib/a.go"), ""},
		{own, shellCall("go test ./... 2>&1 | tail -5 > out.txt"), ""},
		{own, shellCall("ssh host 'echo x > /home/dev/app/h'"), ""},
		{sec, file("file_read", []string{"plain"}, nil), "secrets.file"},
		{sec, file("file_read", []string{"keys/id_work"}, nil), "secrets.file"},
		{sec, file("file_read", []string{"lib/a.go", "keys/config"}, nil), ""},
		{sec, shellCall("cat plain"), "secrets.read"},
		{sec, shellCall("head -1 keys/work"), "secrets.read"},
		{sec, shellCall("base64 < plain"), "secrets.read"},
		{sec, shellCall("cat lib/a.go README.md"), ""},
	}
	for _, tt := range tests {
		got := tt.g.Check(tt.call)
		if tt.want == "" && len(got) > 0 || tt.want != "" && !hasRule(got, tt.want) {
			t.Errorf("%+v: want %q, got %v", tt.call, tt.want, got)
		}
	}
}

func TestQuestionsToTheDiskAreBounded(t *testing.T) {
	asked := 0
	g := NewOwnFiles(Options{Resolve: func(p string) string { asked++; return p }})
	g.Check(shellCall("tee " + strings.Repeat("a b c d ", 500)))
	if asked == 0 || asked > inspect.MaxResolve {
		t.Errorf("asked %d times; want asked != 0 and asked <= inspect.MaxResolve", asked)
	}
}

func TestDaemonProcess(t *testing.T) {
	g := NewOwnFiles(Options{DaemonPID: 4242, OwnPaths: []string{"/srv/rt"}})
	for cmd, bad := range map[string]bool{
		"kill 4242": true, "kill -9 4242": true, "kill -- -4242": true, "kill -s TERM 1 4242": true,
		"sudo kill -STOP 4242": true, "P=4242; kill $P": true,
		"echo 4242 | xargs kill": true, "gdb -p 4242 -batch": true, `python3 -c "import os; os.kill(4242, 9)"`: true,
		"kill $(cat /srv/rt/daemon.alive)": true, "sh -c 'kill 4242'": true,
		"prlimit --pid 4242 --nofile=1": true, "prlimit -p4242 -n1": true, "prlimit --pid=4242": true, "strace -p 4242": true,
		"strace -f -p4242": true, "gdb program 4242": true, "renice 19 4242": true, "taskset -p 1 4242": true,
		"dlv attach 4242": true, "ltrace -p 4242": true, "lldb --attach-pid=4242": true, "kill -STOP $(echo 4242)": true,
		"prlimit --nofile=4242 make": false, "strace -o 4243 make": false, "nice -n 10 make": false,
		"kill 42420": false, "kill 424": false, "kill 1234": false, "ps -p 4242": false, "echo 4242": false, "kill -l": false,
		`python3 -c "print(4242)"`: false, "cat /srv/rt/daemon.alive": false, "sleep 4242 & kill $!": false,
	} {
		got := g.Check(shellCall(cmd))
		if bad != hasRule(got, "own-files.daemon") {
			t.Errorf("%q: got %+v, want bad = %v", cmd, got, hasRule(got, "own-files.daemon"))
		}
	}
	// Without the number every kill is like any other.
	if got := NewOwnFiles(Options{}).Check(shellCall("kill 4242")); len(got) > 0 {
		t.Errorf("got %+v, want none", got)
	}
}

func TestFileToolsAndPrograms(t *testing.T) {
	own := NewOwnFiles(Options{})
	for p, bad := range map[string]bool{
		"/usr/local/bin/hookmux-hook": true, "~/.local/bin/hookmux": true, "bin/hookmux-hook.exe": true,
		"cmd/hookmux/main.go": false, "docs/hookmux.md": false,
	} {
		got := own.Check(Call{ToolKind: "file_write", Writes: []string{p}, Cwd: "/home/dev/app",
			Project: "/home/dev/app",
			Home:    "/home/dev"})
		if bad != hasRule(got, "own-files.write") {
			t.Errorf("%s: got %+v, want bad = %v", p, got, hasRule(got, "own-files.write"))
		}
	}
	got := own.Check(Call{ToolKind: "mcp", ToolName: "delete_directory", Input: []byte(`{"path":".claude"}`),
		Cwd: "/home/dev/app", Home: "/home/dev"})
	if !hasRule(got, "own-files.write") {
		t.Errorf("delete of .claude by a tool: %v", got)
	}
}
