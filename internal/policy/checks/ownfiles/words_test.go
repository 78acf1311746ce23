package ownfiles

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/guardtest"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

func wordsOf(line string) []shell.Word {
	var words []shell.Word
	for _, text := range strings.Fields(line) {
		words = append(words, shell.Word{Text: text, Bare: text})
	}
	return words
}

func textOf(words []shell.Word) string { return facts.JoinArgs(words) }

// checkLine gives the rules that a command breaks.
func checkLine(c *Checker, command string) string {
	call := guardtest.ShellCall(command)
	script := shell.Parse(command)
	report := &facts.Report{}
	c.CheckScript(facts.NewScope(&call, &script, report, nil))
	var rules []string
	for _, f := range report.List {
		rules = append(rules, "own-files."+f.Check)
	}
	return strings.Join(rules, " ")
}

// A guard never panics, however few words a command has.
func TestShortCommands(*testing.T) {
	names := slices.Concat(programs.OfKind(slices.Collect(maps.Keys(writers()))...), programs.With(func(p *programs.Program) bool { return p.Has(programs.ProcessTool) }),
		slices.Sorted(maps.Keys(agentByProgram())), []string{"pkill", "fuser", "killall", "systemctl", "npx", "git config", "git clean",
			"echo", "hookmux", "kill $(grep)", "kill $(pgrep)", "kill $(awk)"})
	c := New(facts.Machine{DaemonPID: 4711})
	first := []string{"", "-", "--", "-f", "-e", "x", "config", "-exec", "-o", "-u", "features disable", "config set", "-x", "''"}
	for _, name := range names {
		for _, word := range first {
			for _, second := range []string{"", "x", "-f", "--delete"} {
				checkLine(c, name+" "+word+" "+second)
			}
		}
	}
	for _, line := range []string{"source", ".", "eval", "eval $(x)", "alias", "export"} {
		checkLine(c, "echo '"+line+"' >> ~/.bashrc")
	}
}

func TestValuesOfOptions(t *testing.T) {
	for line, want := range map[string]string{
		"-f x": "x", "-fx y": "x", "-f=x": "x", "--file x": "x", "--file=x": "x", "--fil x": "x", "--fi x": "x", "--f x": "", "-f": "",
		"--file": "", "--fi": "", "x": "", "-g x": "", "--filex y": "", "-f x -f y": "x y", "--file=": "",
	} {
		if got := textOf(facts.OptionValues(wordsOf(line), "-f", "--file")); strings.TrimSpace(got) != want {
			t.Errorf("values of -f and --file in %q: got %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"czf a.tar x": "a.tar", "-c -f a.tar x": "a.tar", "-czf a.tar": "a.tar", "x cf y": "", "tf a.tar": "", "--ref x": "", "-rf a": "a",
		"cf": "", "xf a": "",
	} {
		if got := textOf(archiveFile(wordsOf(line))); got != want {
			t.Errorf("the archive of tar %s: got %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"-f a": "a", "-e keep a": "a", "-fe keep a": "a", "--exclude keep a": "a", "--one keep a": "keep a", "e b": "e b", "a -e": "a",
		"the x": "the x", "- x": "x",
	} {
		if got := textOf(cleanedPaths(wordsOf(line))); got != want {
			t.Errorf("git clean %s removes %q, want %q", line, got, want)
		}
	}
}

func TestPathsInWords(t *testing.T) {
	for text, want := range map[string]string{
		"a/b": "a/b", "k=a/b": "a/b", "=x": "=x", "-o/x": "/x", "-o~/x": "~/x", "-ox": "", "--/x": "", "-o": "", "-": "", "xo/y": "xo/y",
		"a b": "", "x./y": "x./y", "--k=/x": "/x",
	} {
		word, ok := pathInWord(shell.Word{Text: text})
		if got := word.Text; ok != (want != "") || ok && got != want {
			t.Errorf("the path in %q: got %q, %v; want %q", text, got, ok, want)
		}
	}
}

func TestPatternsOfProcesses(t *testing.T) {
	for line, want := range map[string]string{
		"pat": "pat", "-u dev pat": "pat", "-udev pat": "pat", "-9 pat": "pat", "-TERM pat": "pat", "-f pat": "pat", "-F file pat": "file pat",
		"-u": "", "-": "-", "-g 1 -x pat": "pat", "-Z pat": "pat",
	} {
		if _, rest := patternOperands(wordsOf(line)); textOf(rest) != want {
			t.Errorf("patterns of pkill %s: got %q, want %q", line, textOf(rest), want)
		}
	}
	for pattern, want := range map[string]bool{
		"": false, "hook": true, "other": false, "(hook": true, "(x": false, strings.Repeat("x", 1024): false,
		strings.Repeat("x", 1025): true, "h..kmux": true,
	} {
		if got := matchesAny(pattern, daemonNames, false); got != want {
			t.Errorf("%.20q finds the daemon: got %v, want %v", pattern, got, want)
		}
	}
}

// The daemon's own number, in every way a tool takes it.
func TestNumberOfTheDaemon(t *testing.T) {
	c := New(facts.Machine{DaemonPID: 4711})
	for command, want := range map[string]string{
		"kill 4711": "own-files.daemon", "kill -9 4711": "own-files.daemon", "kill -- -4711": "own-files.daemon", "kill -4711": "",
		"gdb -p4711": "own-files.daemon", "gdb -p 4711": "own-files.daemon", "strace -fp 4711": "own-files.daemon",
		"prlimit --pid=4711 --cpu=1": "own-files.daemon", "reptyr --attach=4711": "own-files.daemon", "kill 14711": "", "kill 47110": "",
		"kill x=4711": "", "perf stat -p4711": "own-files.daemon", "perf stat -x p4711": "own-files.daemon", "echo 4711": "", "kill 1": "",
		"python3 -c 'os.kill(4711, 9)'": "own-files.daemon", "python3 -c 'os.kill(47112, 9)'": "",
		"kill $(cat ~/.local/state/hookmux/daemon.pid | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat)": "own-files.daemon",
	} {
		if got := checkLine(c, command); got != want {
			t.Errorf("%.60s: got %q, want %q", command, got, want)
		}
	}
	for pid, want := range map[int]string{-1: "", 0: "", 1: "", 2: "own-files.daemon"} {
		if got := checkLine(New(facts.Machine{DaemonPID: pid}), "kill 2"); got != want {
			t.Errorf("kill 2 while the daemon is %d: got %q, want %q", pid, got, want)
		}
		if got := checkLine(New(facts.Machine{DaemonPID: pid}), "kill 1"); got != "" {
			t.Errorf("kill 1 while the daemon is %d: got %q, want nothing", pid, got)
		}
	}
}

// The user's own paths are watched under every name they have.
func TestOwnPaths(t *testing.T) {
	resolve := func(p string) string {
		return map[string]string{"/home/dev/.agents": "/dot/agents", "/srv/all": "/"}[p]
	}
	c := New(facts.Machine{OwnPaths: []string{"/home/dev/.agents", "/srv/all", "/srv/same"}, Resolve: func(p string) string {
		if to := resolve(p); to != "" {
			return to
		}
		return p
	}})
	for p, want := range map[string]bool{
		"/home/dev/.agents/x": true, "/dot/agents/x": true, "/dot/other": false, "/srv/all/x": true, "/etc/other": false,
		"/srv/same": true,
	} {
		if got := c.isOwned(p); got != want {
			t.Errorf("%s is ours: got %v, want %v", p, got, want)
		}
	}
	if len(c.exact) != 4 {
		t.Errorf("watched paths %q, want the three and where the first leads", c.exact)
	}
	call := guardtest.ShellCall("")
	x := &scope{Scope: facts.NewScope(&call, nil, nil, nil)}
	for p, want := range map[string]bool{"/": false, "/srv": true, "/dot": true, "/home/dev/.claude": true, "/home/dev/app/src": false} {
		if got := c.holdsOwned(x, p); got != want {
			t.Errorf("%s holds something of ours: got %v, want %v", p, got, want)
		}
	}
	for _, row := range []struct {
		own, command string
		want         bool
	}{
		{"/data/zz", "ls zz", true}, {"/data/zz", "ls data", true}, {"/data/z", "ls z", false}, {"/d/zzz", "ls d", false},
		{"/d/" + strings.Repeat("n", 99), "ls " + strings.Repeat("n", 99), true},
		{"/d/" + strings.Repeat("n", 100), "ls " + strings.Repeat("n", 100), false},
	} {
		if got := New(facts.Machine{OwnPaths: []string{row.own}}).MustParse(row.command); got != row.want {
			t.Errorf("%.20s must be parsed because of %.20s: got %v, want %v", row.command, row.own, got, row.want)
		}
	}
	plain := New(facts.Machine{})
	for command, linked := range map[string]bool{"tee x": true, "ls > x": true, "ls x": false, "ls x 2>&1": false} {
		if got := c.MustParse(command); got != linked {
			t.Errorf("%s must be parsed where links are followed: got %v, want %v", command, got, linked)
		}
		if plain.MustParse(command) {
			t.Errorf("%s must be parsed where no link is followed: got true, want false", command)
		}
	}
}

// Patterns that the shell expands: to one of our files, to what lies in a folder of ours, to a folder above.
func TestPatternsOfPaths(t *testing.T) {
	c := New(facts.Machine{})
	call := guardtest.ShellCall("")
	for _, row := range []struct {
		pattern         string
		writes, deletes bool
	}{
		{"/home/dev/.claude/*", true, true}, {"/home/dev/.hookmux/x/*", true, true}, {"/home/dev/.claude/settings.json/*", false, false},
		{"/home/dev/.clau*", false, true}, {"/home/dev/.bash*", false, false}, {"/home/dev/.hook*", true, true},
	} {
		for _, del := range []bool{false, true} {
			want := del && row.deletes || !del && row.writes
			x := &scope{Scope: facts.NewScope(&call, nil, nil, nil)}
			if got := c.globMayOwn(x, row.pattern, del); got != want {
				t.Errorf("%s, deletes %v: got %v, want %v", row.pattern, del, got, want)
			}
		}
	}
}

func TestNamedInText(t *testing.T) {
	c := New(facts.Machine{})
	for text, want := range map[string]string{
		"rm .claude/settings.json (": ".claude/settings.json", "x\t.hookmux/a": ".hookmux/a", "a=.codex/hooks.json": ".codex/hooks.json",
		"HOOKMUX_DISABLED=1 (": "HOOKMUX_DISABLED", "ls (": "", "x!.claude/settings.json": "",
	} {
		if got := c.NamedIn(text); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// File tools: what they write, move away, or name in an input that only they know.
func TestPathsOfFileTools(t *testing.T) {
	for _, c := range []struct {
		tool          string
		writes, extra []string
		want          int
	}{
		{"Write", []string{"/home/dev/.claude/settings.json"}, nil, 1}, {"Write", []string{"~/.claude/settings.json"}, nil, 1},
		{"Write", []string{"a.go"}, nil, 0}, {"Write", nil, nil, 0}, {"mcp", nil, []string{"/home/dev/.codex/hooks.json"}, 1},
		{"delete_file", []string{"/home/dev/.claude"}, nil, 1}, {"Write", []string{"/home/dev/.claude"}, nil, 0},
		{"Write", []string{"a.go"}, []string{"/usr/local/bin/hookmux"}, 1}, {"Write", []string{"a"}, []string{"b"}, 0},
		{"move", []string{"/home/dev/.claude/settings.json"}, []string{"/home/dev/.codex/hooks.json"}, 2},
	} {
		call := guardtest.ShellCall("")
		call.Commands, call.ToolKind, call.ToolName, call.Writes = nil, "file_write", c.tool, c.writes
		report := &facts.Report{}
		New(facts.Machine{}).CheckPaths(facts.NewScope(&call, nil, report, nil), facts.InputPaths{Writes: c.extra})
		if len(report.List) != c.want {
			t.Errorf("%s of %q and %q: got %+v, want %d findings", c.tool, c.writes, c.extra, report.List, c.want)
		}
	}
	// A link that leads to one of ours is one of ours.
	call := guardtest.ShellCall("")
	call.ToolKind, call.ToolName, call.Writes = "file_write", "Write", []string{"link"}
	report := &facts.Report{}
	resolve := func(p string) string {
		if path.Base(p) == "link" {
			return "/home/dev/.claude/settings.json"
		}
		return p
	}
	New(facts.Machine{Resolve: resolve}).CheckPaths(facts.NewScope(&call, nil, report, resolve), facts.InputPaths{})
	if len(report.List) != 1 {
		t.Errorf("a link to the settings: got %+v, want one finding", report.List)
	}
}
