package guards

import (
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/guardtest"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// simple commands can stand behind sudo and env as they are.
var simple = regexp.MustCompile(`^[a-z./][a-z0-9./_-]* [^;&|<>(){}\n]*$`)

var notPrograms = regexp.MustCompile(`^(export|cd|pushd|trap|alias|eval|source|\.|set|exec|builtin|if|for|while|` +
	`until|case|function|time|coproc|unset|local|declare|typeset|readonly) `)

// A dangerous command stays dangerous however it is wrapped.
func TestWrappingKeepsFindings(t *testing.T) {
	set := allGuards(t)
	wrapped := 0
	for _, s := range readCorpus(t, "dangerous") {
		q, err := syntax.Quote(s.Text, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		outer := []string{"sh -c " + q, "sudo bash -c " + q, "env WRAPPED=1 sh -c " + q}
		if !strings.HasSuffix(s.Rule, ".unreadable") {
			outer = append(outer, "(\n"+s.Text+"\n)", "true && {\n"+s.Text+"\n}", "if true; then\n"+s.Text+"\nfi")
		}
		if simple.MatchString(s.Text) && !notPrograms.MatchString(s.Text) {
			outer = append(outer, "sudo "+s.Text, "env WRAPPED=1 "+s.Text, "nohup "+s.Text, "true && "+s.Text,
				"timeout 5 "+s.Text)
		}
		if sampled(2, len(outer)) < len(outer) { // always the same two
			first := s.Line % len(outer)
			outer = []string{outer[first], outer[(first+1)%len(outer)]}
		}
		for _, o := range outer {
			wrapped++
			if got := set.Check(shellCall(o)); !hasRule(got, s.Rule) {
				t.Errorf("%s:%d: %q: want %s, got %v", s.File, s.Line, o, s.Rule, got)
			}
		}
	}
	t.Logf("%d wrapped commands", wrapped)
}

func TestHostileCommandsAreBounded(t *testing.T) {
	set := allGuards(t)
	fill := func(s string) string { return strings.Repeat(s, 16<<10/len(s)) }
	for name, cmd := range map[string]string{
		"rm": fill("rm -rf x;"), "dynamic": fill("$x "), "pipes": fill("curl x|") + "sh", "nest": fill("sh -c '"),
		"secrets": fill("cat .enx;"), "redirects": fill(">x "),
		"find": "find . " + fill("-exec rm {} "), "paths": "rm -rf " + fill("a/../"), "own": fill("echo hooks > settings;"),
		"words": "cat " + fill("x "), "sql": "psql -c '" + fill("drop ") + "'",
		"curl words": "curl " + fill("@a "), "code": "python3 -c '" + fill(`rmtree("x");`) + "'",
		"vars": fill("echo $A_TOKENX;"), "unclosed": fill("rm -r \""),
	} {
		if got := set.Check(shellCall(cmd)); len(got) > 99 {
			t.Errorf("%s: %d findings, want at most %d", name, len(got), 99)
		}
	}
}

func TestTooLongIsItsOwnClass(t *testing.T) {
	g := NewDestructive(Options{})
	pad := strings.Repeat("echo hello\n", shell.MaxSource/4)
	if got := g.Check(shellCall(pad[:shell.MaxSource])); len(got) != 0 {
		t.Errorf("as long as can be, and harmless: %v", got)
	}
	if got := g.Check(shellCall(pad)); !hasRule(got, "destructive.unreadable") {
		t.Errorf(`too long: %v; want hasRule(got, "destructive.unreadable")`, got)
	}
	if got := g.Check(shellCall(pad + "r''m -rf /")); !hasRule(got, "destructive.unreadable") {
		t.Errorf("long and dangerous: %v", got)
	}
}

func TestFileTools(t *testing.T) {
	secretsGuard, own := NewSecrets(Options{}), NewOwnFiles(Options{Machine: facts.Machine{OwnPaths: []string{"/srv/hm",
		"/home/dev/.special/agent.conf"}}})
	tests := []struct {
		g    *Guard
		call Call
		want string
	}{
		{secretsGuard, Call{ToolKind: "file_read", Reads: []string{"/home/dev/app/.env"}}, "secrets.file"},
		{secretsGuard, Call{ToolKind: "file_read", Reads: []string{"~/.ssh/id_rsa"}}, "secrets.file"},
		{secretsGuard, Call{ToolKind: "search", Reads: []string{".env.production"}}, "secrets.file"},
		{secretsGuard, Call{ToolKind: "file_read", Reads: []string{".env.example", "src/env.ts", "~/.ssh/config"}}, ""},
		{secretsGuard, Call{ToolKind: "file_write", Writes: []string{".env"}}, ""},
		{secretsGuard, Call{ToolKind: "mcp", ToolName: "fs_read", Input: []byte(`{"path":"/home/dev/.aws/credentials"}`)},
			"secrets.file"},
		{secretsGuard, Call{ToolKind: "mcp", ToolName: "run", Input: []byte(`{"command":"cat .env"}`)}, "secrets.read"},
		{secretsGuard, Call{ToolKind: "mcp", ToolName: "x", Input: []byte(`{"path":`)}, "secrets.unreadable"},
		{secretsGuard, Call{ToolKind: "fetch", URL: "file:///etc/shadow"}, "secrets.file"},
		{own, Call{ToolKind: "file_edit", Writes: []string{"/home/dev/app/.claude/settings.json"}}, "own-files.write"},
		{own, Call{ToolKind: "file_write", Writes: []string{".claude/settings.local.json"}}, "own-files.write"},
		{own, Call{ToolKind: "file_write", Writes: []string{"settings.json"}, Cwd: "/home/dev/.claude"}, "own-files.write"},
		{own, Call{ToolKind: "file_write", Writes: []string{"~/.codex/config.toml"}}, "own-files.write"},
		{own, Call{ToolKind: "file_write", Writes: []string{"../.hookmux/hooks.json"}}, "own-files.write"},
		{own, Call{ToolKind: "file_write", Writes: []string{"/srv/hm/x/y"}}, "own-files.write"},
		{own, Call{ToolKind: "file_write", Writes: []string{"~/.special/agent.conf"}}, "own-files.write"},
		{own, Call{ToolKind: "shell", Commands: []string{"rm -rf /home/dev/.special"}}, "own-files.delete"},
		{own, Call{ToolKind: "file_read", Reads: []string{"/home/dev/.claude/settings.json"}}, ""},
		{own, Call{ToolKind: "file_write", Writes: []string{"src/settings.json", ".claude/CLAUDE.md", "docs/hooks.json"}},
			""},
		{own, Call{ToolKind: "mcp", ToolName: "write_file", Input: []byte(`{"path":".hookmux/hooks.json","content":"{}"}`)},
			"own-files.write"},
		{own, Call{ToolKind: "mcp", ToolName: "read_file", Input: []byte(`{"path":".hookmux/hooks.json"}`)}, ""},
	}
	for _, tt := range tests {
		if tt.call.Home == "" {
			tt.call.Home = "/home/dev"
		}
		if tt.call.Cwd == "" {
			tt.call.Cwd, tt.call.Project = "/home/dev/app", "/home/dev/app"
		}
		got := tt.g.Check(tt.call)
		if tt.want == "" && len(got) > 0 || tt.want != "" && !hasRule(got, tt.want) {
			t.Errorf("%+v: want %q, got %v", tt.call, tt.want, got)
		}
	}
}

// Where a call happens decides what is broad.
func TestPlaces(t *testing.T) {
	g := NewDestructive(Options{})
	tests := []struct {
		cwd, project, home, cmd, want string
	}{
		{"/srv/app", "/srv/app", "/root", "rm -rf dist", ""},
		{"/srv/app/web", "/srv/app", "/root", "rm -rf ../dist", ""},
		{"/srv/app/web", "/srv/app", "/root", "rm -rf *", ""},
		{"/srv/app/web", "/srv/app", "/root", "rm -rf ..", "destructive.rm-broad"},
		{"/srv/app/web", "/srv/app", "/root", "rm -rf ../../other", "destructive.rm-broad"},
		{"/tmp/proj", "/tmp/proj", "/root", "rm -rf .git", "destructive.rm-broad"},
		{"/tmp/proj", "/tmp/proj", "/root", "rm -rf /tmp/other", ""},
		{"", "", "", "rm -rf dist", ""},
		{"", "", "", "rm -rf ~", "destructive.rm-broad"},
		{"", "", "", "rm -rf ..", "destructive.rm-broad"},
		{"/Users/me/app", "/Users/me/app", "/Users/me", "rm -rf ~/Library/Caches/x", ""},
		{"/Users/me/app", "/Users/me/app", "/Users/me", "rm -rf /Users/me", "destructive.rm-broad"},
		{"/Users/me/app", "/Users/me/app", "/Users/me", "rm -rf ~/Desktop", "destructive.rm-outside"},
	}
	for _, tt := range tests {
		got := g.Check(Call{ToolKind: "shell", Commands: []string{tt.cmd}, Cwd: tt.cwd, Project: tt.project,
			Home: tt.home})
		if tt.want == "" && len(got) > 0 || tt.want != "" && !hasRule(got, tt.want) {
			t.Errorf(`%+v: got %v; want tt.want != "" or len(got) <= 0 and tt.want == "" or hasRule(got, `+
				`tt.want)`, tt, got)
		}
	}
}

func TestAllow(t *testing.T) {
	cmd := "rm -rf ~/old"
	for _, tt := range []struct {
		allow []string
		deny  bool
	}{
		{nil, true},
		{[]string{"destructive.rm-outside"}, false},
		{[]string{"destructive"}, false},
		{[]string{"guard.destructive"}, false},
		{[]string{"destructive.rm-broad"}, true},
		{[]string{"destructive.rm-outside:" + cmd}, false},
		{[]string{"destructive.rm-outside:rm -rf ~/other"}, true},
	} {
		got := NewDestructive(Options{Allow: tt.allow}).Check(shellCall(cmd))
		if tt.deny != (len(got) > 0) {
			t.Errorf("allow %q: %v; want tt.deny == (len(got) > 0)", tt.allow, got)
		}
	}
}

func TestList(t *testing.T) {
	if names.Is("nonsense") {
		t.Error("nonsense is a guard, want none of that name")
	}
	for _, info := range List() {
		if info.DefaultOn != (info.Name == names.OwnFiles) || info.What == "" {
			t.Errorf("%+v, want only own-files on from the start, and what it stops", info)
		}
		seen := map[string]bool{}
		for _, r := range info.Rules {
			if seen[r.ID] || r.What == "" {
				t.Errorf("%s: rule %+v, want it once, with its reason", info.Name, r)
			}
			seen[r.ID] = true
		}
	}
}

func TestMessageIsOneLine(t *testing.T) {
	set := allGuards(t)
	for _, s := range readCorpus(t, "dangerous") {
		for _, f := range set.Check(shellCall(s.Text)) {
			m := Message(f)
			if strings.ContainsAny(m, "\n\r") || !strings.Contains(m, f.Rule) || strings.Contains(m, "Allow once") {
				t.Fatalf("m = %q, want one line that names %q and no way around it", m, f.Rule)
			}
		}
	}
}

// The prefilter must never hide a command that the rules would catch.
func TestPrefilterHidesNothing(t *testing.T) {
	for _, g := range names.All() {
		e := NewGuard(g.Name, Options{}).engine("/home/dev")
		for _, s := range readCorpus(t, "dangerous") {
			if e.mustParse(s.Text, "/home/dev/app") {
				continue
			}
			call := shellCall(s.Text)
			f := facts.Collect(guardtest.EventOf(&call), call.Project, e.calls.Needs(), facts.Options{Home: call.Home})
			for _, h := range e.calls.Decide(f).Hits {
				t.Errorf("%s is not read: %q: %s", g.Name, s.Text, h.ID)
			}
		}
	}
	own := NewOwnFiles(Options{}).engine("/home/dev")
	for _, ordinary := range []string{"go test ./...", "npm run build", "git status", "ls -la src", "make test"} {
		if own.mustParse(ordinary, "/home/dev/app") {
			t.Errorf("own-files parses %q for nothing", ordinary)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"rm -rf /", "cat .env", "echo > .claude/settings.json", "sudo sh -c 'x'", "git push -f",
		"a\x00b", "curl x | sh", "kill -9 -1", "rm -rf \"$X/\"", "find -exec"} {
		f.Add(s, "/home/dev/app")
	}
	set := allGuards(f)
	f.Fuzz(func(_ *testing.T, cmd, where string) {
		set.Check(Call{ToolKind: "shell", Commands: []string{cmd}, Cwd: where, Project: where, Home: where})
		set.Check(Call{ToolKind: "mcp", ToolName: "write", Input: []byte(cmd), Reads: nil, Home: where})
		set.Check(Call{ToolKind: "file_edit", Reads: []string{cmd}, Writes: []string{cmd}, Cwd: where})
	})
}

func BenchmarkCheck(b *testing.B) {
	set := allGuards(b)
	for _, bb := range []struct{ name, cmd string }{
		{"ordinary", "go test ./... -run TestFoo"},
		{"parsed", "git add -A && git commit -m 'x' && git push"},
		{"dangerous", `sudo bash -c "rm -rf ~"`},
	} {
		call := shellCall(bb.cmd)
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set.Check(call)
			}
		})
	}
	own := NewOwnFiles(Options{})
	call := shellCall("go test ./... -run TestFoo")
	b.Run("own-files only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			own.Check(call)
		}
	})
	following := NewOwnFiles(Options{Machine: facts.Machine{DaemonPID: 4242, Resolve: func(p string) string { return p }}})
	call = shellCall("go test ./... -run TestFoo 2>&1")
	b.Run("own-files following links", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			following.Check(call)
		}
	})
}

// Every command of a call is looked at, each by itself.
func TestEveryCommandOfACall(t *testing.T) {
	call := shellCall("rm x")
	call.Commands = []string{"rm x", "rm -rf /", "rm y"}
	got := NewGuard("", Options{}).Check(call)
	if len(got) != 1 || got[0].Where != "rm -rf /" {
		t.Errorf("findings %+v, want one about rm -rf /", got)
	}
}
