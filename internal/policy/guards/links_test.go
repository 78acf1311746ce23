package guards

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// fakeLinks stands for a disk with a few links on it.
func fakeLinks(links map[string]string) func(string) string {
	return func(p string) string {
		for from, to := range links {
			if facts.IsUnder(p, from) {
				return path.Clean(to + strings.TrimPrefix(p, from))
			}
		}
		return p
	}
}

func TestLinksAreFollowed(t *testing.T) {
	opt := Options{Machine: facts.Machine{
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
			"/home/dev/app/below":   "/home/dev/.claude/plugins",
			"/proc/4711/cwd":        "/home/dev",
			"/proc/4711/root":       "/",
		}),
	}}
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
		{own, file("file_write", nil, []string{"/proc/4711/cwd/.claude/settings.json"}), "own-files.write"},
		{own, file("file_write", nil, []string{"/proc/4711/cwd/./x/../.bashrc"}), "own-files.launch"},
		{own, file("file_write", nil, []string{"/proc/4711/root/home/dev/.bashrc"}), "own-files.launch"},
		{own, file("file_write", nil, []string{"/proc/self/cwd/../.bashrc"}), "own-files.launch"},
		{own, file("file_write", nil, []string{"below/../../../.bashrc"}), ""},
		{own, file("file_write", nil, []string{"below/../settings.json"}), "own-files.write"},
		{own, file("file_write", nil, []string{"keys/../.bashrc"}), "own-files.launch"},
		{own, shellCall("echo '{}' > below/../settings.json"), "own-files.write"},
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
	g := NewOwnFiles(Options{Machine: facts.Machine{Resolve: func(p string) string { asked++; return p }}})
	g.Check(shellCall("tee " + strings.Repeat("a b c d ", 500)))
	if asked == 0 || asked > 2*facts.MaxResolve { // by the checks, and by the facts that rules compare
		t.Errorf("asked %d times; want asked != 0 and asked <= 2*facts.MaxResolve", asked)
	}
}

// A command with thousands of operands costs a little for each, and not for each pair.
func TestManyOperandsCostLittle(t *testing.T) {
	set := allGuards(t)
	cost := func(command string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		set.Check(shellCall(command))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, start := range []string{"rm -rf ", "find ", "cat ", "tee ", "chmod 000 "} {
		few, many := cost(start+strings.Repeat("/x ~/.ssh/id_rsa ", 500)), cost(start+strings.Repeat("/x ~/.ssh/id_rsa ", 4000))
		if many > 16*few {
			t.Errorf("%s: %d bytes for 1,000 operands and %d for 8,000; want about 8 times as much", start, few, many)
		}
	}
}

func TestDaemonProcess(t *testing.T) {
	g := NewOwnFiles(Options{Machine: facts.Machine{DaemonPID: 4242, OwnPaths: []string{"/srv/rt"}}})
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

// Hard links lead to our files and to secrets like any other name, in every way to make
// one and to write to one; links to the home directory do not hide what is deleted.
func TestSecondNamesOnDisk(t *testing.T) {
	home := t.TempDir()
	app := filepath.Join(home, "app")
	for file, text := range map[string]string{".claude/settings.json": "{}", ".bashrc": "x", ".ssh/id_rsa": "k", "app/a.txt": "a",
		"app/plain2": "b", ".config/hookmux/config.json": "{}", "Documents/x": "x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"s.json": ".claude/settings.json", "rc": ".bashrc", "k": ".ssh/id_rsa",
		"plain": "app/plain2", "c": ".config/hookmux/config.json"} {
		if err := os.Link(filepath.Join(home, to), filepath.Join(app, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"h": home, "r": "/", "rcs": filepath.Join(home, ".bashrc")} {
		if err := os.Symlink(to, filepath.Join(app, name)); err != nil {
			t.Fatal(err)
		}
	}
	opt := Options{Machine: facts.Machine{Resolve: paths.Real, Twin: paths.Twin,
		OwnPaths: []string{filepath.Join(home, ".config/hookmux")}}}
	guards := map[string]*Guard{"own-files": NewOwnFiles(opt), "secrets": NewSecrets(opt), "destructive": NewDestructive(opt)}
	call := func(c Call) Call { c.Home, c.Cwd, c.Project = home, app, app; return c }
	for cmd, want := range map[string]string{
		"echo {} > s.json": "own-files.write", "tee s.json < x": "own-files.write", "sed -i s/a/b/ s.json": "own-files.write",
		"cp x s.json": "own-files.write", "truncate -s0 c": "own-files.write", "echo x >> rc": "own-files.launch",
		"echo x >> rcs": "own-files.launch", "echo x > plain": "", "echo x > a.txt": "", "rm s.json": "",
		"cp -l ~/.claude/settings.json z": "own-files.write", "cp --link ~/.claude/settings.json z": "own-files.write",
		"cp -al ~/.claude z": "own-files.write", "cp -s ~/.claude/settings.json z": "own-files.write",
		"rsync -a --link-dest=$HOME/.claude ~/.claude/ c2/":                                  "own-files.write",
		`python3 -c "import os; os.link(os.path.expanduser('~/.claude/settings.json'),'s')"`: "own-files.write",
		`python3 -c "import os; os.symlink('` + home + `/.claude','c')"`:                     "own-files.write",
		`node -e 'require("fs").linkSync(process.env.HOME+"/.claude/settings.json","s")'`:    "own-files.write",
		`perl -e 'link("$ENV{HOME}/.claude/settings.json","s")'`:                             "own-files.write",
		"cat k": "secrets.read", "base64 < k": "secrets.read", "cat plain a.txt": "", "ln ~/.ssh/id_rsa z": "secrets.read",
		"mv ~/.ssh/id_rsa z.txt": "secrets.read", "find h/ -delete": "destructive.find-delete",
		"rm -rf h/.": "destructive.rm-broad", "find r/home -delete": "destructive.find-delete", "rm -rf h/Documents": "destructive.rm-outside",
		"find -L h -delete": "destructive.find-delete", "rm h": "", "rm -rf dist": "", "find . -name '*.o' -delete": "",
	} {
		guard, _, _ := strings.Cut(want, ".")
		for name, g := range guards {
			if want == "" || name == guard {
				checkRule(t, g, call(Call{ToolKind: "shell", Commands: []string{cmd}}), want)
			}
		}
	}
	for file, want := range map[string]string{"s.json": "own-files.write", "rc": "own-files.launch", "plain": "", "a.txt": ""} {
		checkRule(t, guards["own-files"], call(Call{ToolKind: "file_write", Writes: []string{file}}), want)
	}
	checkRule(t, guards["secrets"], call(Call{ToolKind: "file_read", Reads: []string{"k"}}), "secrets.file")
}
