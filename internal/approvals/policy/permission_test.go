package policy

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func run(command string) *event.Event {
	return &event.Event{Agent: "claude", Session: "s", Cwd: "/p", Kind: event.PermissionRequest,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}, Input: []byte(`{}`)}}
}

func TestRuleFor(t *testing.T) {
	for _, c := range []struct {
		ev   *event.Event
		want string // "" for none
	}{
		{run("npm test"), "run exactly: npm test"},
		{run(`git commit -m "two words"`), "run exactly: git commit -m 'two words'"},
		{run("./run.sh fast"), "run exactly: ./run.sh fast (in /p)"},
		{run("a; b"), ""}, {run("a && b"), ""}, {run("a | b"), ""}, {run("a &"), ""}, {run("! a"), ""}, {run("(a)"), ""}, {run("{ a; }"), ""},
		{run("a > f"), ""}, {run("a < f"), ""}, {run("X=1 a"), ""}, {run("X=1"), ""}, {run("a $X"), ""}, {run(`a "$X"`), ""}, {run("a $(b)"), ""},
		{run("a `b`"), ""}, {run("a *.go"), ""}, {run("a {1,2}"), ""}, {run("a ~"), ""}, {run("sudo a"), ""}, {run("env a"), ""}, {run("sh -c a"), ""},
		{run("eval a"), ""}, {run("xargs a"), ""}, {run("time a"), ""}, {run("a <<< x"), ""}, {run("a $((1))"), ""}, {run("if a; then b; fi"), ""},
		{run("f() { a; }"), ""}, {run("nohup a"), ""}, {run("a 'unclosed"), ""}, {run(""), ""}, {run("# nothing"), ""}, {run("ssh host a"), ""},
		{&event.Event{Cwd: "/p", Tool: &event.Tool{Name: "Edit", Kind: event.FileEdit, Writes: []string{"b.go", "/p/a.go"}}}, "write and edit: /p/a.go, /p/b.go"},
		{&event.Event{Tool: &event.Tool{Name: "WebFetch", Kind: event.Fetch, URL: "https://Example.com:8080/a?b"}}, "fetch anything from https://example.com:8080"},
		{&event.Event{Tool: &event.Tool{Name: "WebFetch", Kind: event.Fetch, URL: "file:///etc/passwd"}}, ""},
		{&event.Event{Tool: &event.Tool{Name: "WebFetch", Kind: event.Fetch, URL: "http://a.org/x"}}, "fetch anything from http://a.org"},
		{&event.Event{Tool: &event.Tool{Name: "WebFetch", Kind: event.Fetch, URL: "ftp://a.org/x"}}, ""},
		{&event.Event{Tool: &event.Tool{Name: "mcp__s__t", Kind: event.MCP, MCP: &event.MCPCall{Server: "s", Tool: "t"}}}, "call t of the MCP server s, with any input"},
		{&event.Event{Tool: &event.Tool{Name: "X", Kind: event.OtherTool, Input: []byte(`{"b":1,"a":2}`)}}, `use X with exactly this input: {"a":2,"b":1}`},
		{&event.Event{}, ""},
		{&event.Event{Truncated: true, Tool: bash}, ""},
	} {
		rule, err := RuleFor(c.ev)
		switch {
		case err == nil && rule.Text() != c.want:
			t.Errorf("%q, want %q", rule.Text(), c.want)
		case err != nil && c.want != "":
			t.Errorf("%v, want %q", err, c.want)
		case err == nil && !rule.Matches(c.ev):
			t.Errorf("%q does not fit its own call", rule.Text())
		}
	}
}

func TestRuleMatchesNothingElse(t *testing.T) {
	rule, err := RuleFor(run("npm test"))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"npm test ", "npm  test", `"npm" 'test'`, `np"m" test`} {
		if !rule.Matches(run(other)) {
			t.Errorf("%q is the same command", other)
		}
	}
	for _, other := range []string{"npm", "npm test x", "npm tests", "npm test; x", "npm test\nx", "sudo npm test",
		"NPM test", "/usr/bin/npm test", "npm $TEST", "npm test # x\nrm y"} {
		if rule.Matches(run(other)) {
			t.Errorf("%q is let pass", other)
		}
	}
	two := run("npm test")
	two.Tool.Commands = append(two.Tool.Commands, "rm x")
	cut := run("npm test")
	cut.Truncated = true
	asOther := run("npm test")
	asOther.Tool.Kind = event.OtherTool
	for _, ev := range []*event.Event{two, cut, asOther, {}} {
		if rule.Matches(ev) {
			t.Errorf("%+v is let pass", ev.Tool)
		}
	}
	files, _ := RuleFor(&event.Event{Cwd: "/p", Tool: &event.Tool{Name: "Edit", Kind: event.FileEdit,
		Writes: []string{"a", "b"}}})
	write := func(paths ...string) *event.Event {
		return &event.Event{Cwd: "/p", Tool: &event.Tool{Name: "Write", Kind: event.FileWrite, Writes: paths}}
	}
	if !files.Matches(write("a")) || !files.Matches(write("./b", "/p/a")) || files.Matches(write("c")) ||
		files.Matches(write("a", "c")) || files.Matches(write("../a")) {
		t.Error(`files; want files.Matches(write("a")), files.Matches(write("./b", "/p/a")), ` +
			`!files.Matches(write("c")), !files.Matches(write("a", "c")) and !files.Matches(write("../a"))`)
	}
	for _, writesNothing := range []*event.Event{run("npm test"), {Cwd: "/p", Tool: read}, {Tool: mcp}} {
		if files.Matches(writesNothing) {
			t.Errorf("a permission for files lets %+v pass, want only calls that write these files", writesNothing.Tool)
		}
	}
	if rel, _ := RuleFor(run("./x")); rel.Matches(&event.Event{Agent: "claude", Cwd: "/q", Tool: run("./x").Tool}) {
		t.Error("another folder's ./x")
	}
}

func TestCovers(t *testing.T) {
	now := time.Now()
	rule, _ := RuleFor(run("npm test"))
	need := Need{Kind: Permission}
	base := SavedPermission{Agent: "claude", Scope: Everywhere, Rule: rule}
	with := func(change func(*SavedPermission)) SavedPermission { g := base; change(&g); return g }
	for name, c := range map[string]struct {
		permission SavedPermission
		project    string
		need       Need
		want       bool
	}{
		"everywhere":        {base, "/p", need, true},
		"another agent":     {with(func(g *SavedPermission) { g.Agent = "codex" }), "/p", need, false},
		"expired":           {with(func(g *SavedPermission) { g.Expires = now }), "/p", need, false},
		"not yet expired":   {with(func(g *SavedPermission) { g.Expires = now.Add(time.Minute) }), "/p", need, true},
		"this session":      {with(func(g *SavedPermission) { g.Scope, g.Session = InSession, "s" }), "/p", need, true},
		"another session":   {with(func(g *SavedPermission) { g.Scope, g.Session = InSession, "t" }), "/p", need, false},
		"this project":      {with(func(g *SavedPermission) { g.Scope, g.Project = InProject, "/p" }), "/p", need, true},
		"another project":   {with(func(g *SavedPermission) { g.Scope, g.Project = InProject, "/q" }), "/p", need, false},
		"no project":        {with(func(g *SavedPermission) { g.Scope = InProject }), "", need, false},
		"no scope":          {with(func(g *SavedPermission) { g.Scope = "" }), "/p", need, false},
		"a hook asks":       {base, "/p", Need{Kind: Permission, Asked: "guard.x"}, false},
		"that hook asked":   {with(func(g *SavedPermission) { g.Asked = "guard.x" }), "/p", Need{Kind: Permission, Asked: "guard.x"}, true},
		"another hook asks": {with(func(g *SavedPermission) { g.Asked = "guard.x" }), "/p", Need{Kind: Permission, Asked: "guard.y"}, false},
		"a question":        {with(func(g *SavedPermission) { g.Rule = Rule{All: true} }), "/p", Need{Kind: Question}, false},
		"unseen":            {base, "/p", Need{Kind: Permission, Unseen: true}, false},
		"everything":        {with(func(g *SavedPermission) { g.Rule = Rule{All: true} }), "/p", need, true},
	} {
		if got := c.permission.Covers(run("npm test"), c.project, c.need, now); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if !Everywhere.Known() || Scope("x").Known() || base.Reach() != "claude, everywhere" {
		t.Errorf(`base.Reach() = %q, want Everywhere.Known(), not Scope("x").Known() and "claude, everywhere"`,
			base.Reach())
	}
}
