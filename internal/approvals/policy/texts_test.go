package policy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// A person reads what a rule allows before it is saved.
func TestRulesAsText(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want []string
		not  []string
	}{
		{Rule{All: true}, []string{"every tool call"}, nil},
		{Rule{Command: []string{"go", "test"}}, []string{"run exactly: go test"}, []string{" (in ", ", with "}},
		{Rule{Command: []string{"go", "test"}, Dir: "/p", Input: `{"x":1}`},
			[]string{"run exactly: go test", "(in /p)", `, with {"x":1}`}, nil},
		{Rule{Writes: []string{"/a", "/b"}}, []string{"write and edit: /a, /b"}, nil},
		{Rule{Host: "example.org"}, []string{"fetch anything from example.org"}, nil},
		{Rule{Method: "search"}, []string{"call search, with any input"}, []string{"MCP server"}},
		{Rule{Server: "docs", Method: "search"}, []string{"call search of the MCP server docs, with any input"}, nil},
		{Rule{Tool: "Frob", Input: "{}"}, []string{"Frob"}, []string{"every", "run exactly"}},
	} {
		got := c.rule.Text()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%+v reads %q, want %q in it", c.rule, got, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%+v reads %q, and %q is not true", c.rule, got, not)
			}
		}
	}
}

func TestReachOfPermissions(t *testing.T) {
	until := time.Date(2026, 5, 6, 7, 8, 0, 0, time.Local)
	for _, c := range []struct {
		permission SavedPermission
		want       string
	}{
		{SavedPermission{Agent: "claude", Scope: InSession}, "claude, this session"},
		{SavedPermission{Agent: "claude", Scope: InProject, Project: "/p"}, "claude, in /p"},
		{SavedPermission{Agent: "claude"}, "claude, everywhere"},
		{SavedPermission{Agent: "claude", Scope: InSession, Expires: until}, "claude, this session, until 2026-05-06 07:08"},
	} {
		if got := c.permission.Reach(); got != c.want {
			t.Errorf("%+v reaches %q, want %q", c.permission, got, c.want)
		}
	}
}

// No rule is made of a call that is not known in full, or that a rule cannot name.
func TestCallsWithoutARule(t *testing.T) {
	tool := func(tool event.Tool) event.Event { return event.Event{Kind: event.ToolBefore, Tool: &tool, Cwd: "/p"} }
	cut, broken := tool(event.Tool{Name: "X"}), tool(event.Tool{Name: "X"})
	cut.Truncated, broken.Malformed = true, "x"
	for name, c := range map[string]struct {
		ev   event.Event
		want string
	}{
		"no call":   {event.Event{Kind: event.ToolBefore}, "no call"},
		"cut":       {cut, "only a part"},
		"malformed": {broken, "only a part"},
		"no host":   {tool(event.Tool{Name: "Fetch", Kind: event.Fetch, URL: "file:///x"}), "no host"},
		"no name":   {tool(event.Tool{Kind: event.FileWrite}), "no name"},
		"too long": {tool(event.Tool{Name: "X", Input: []byte(`{"a":"` + strings.Repeat("x", maxInput) + `"}`)}),
			"too long"},
	} {
		if rule, err := RuleFor(&c.ev); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v %v, want an error with %q", name, rule, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		tool event.Tool
		want string
	}{
		"a write":                   {event.Tool{Name: "Write", Kind: event.FileWrite, Writes: []string{"a"}}, "write and edit: /p/a"},
		"an edit":                   {event.Tool{Name: "Edit", Kind: event.FileEdit, Writes: []string{"/a"}}, "write and edit: /a"},
		"a fetch":                   {event.Tool{Name: "Fetch", Kind: event.Fetch, URL: "https://a.org/x"}, "fetch anything from https://a.org"},
		"a server's":                {event.Tool{Name: "m", MCP: &event.MCPCall{Server: "s", Tool: "t"}}, "call t of the MCP server s"},
		"no method":                 {event.Tool{Name: "m", MCP: &event.MCPCall{Server: "s"}}, "m"},
		"a read that names a write": {event.Tool{Name: "Look", Kind: event.FileRead, Writes: []string{"a"}}, "Look"},
	} {
		ev := tool(c.tool)
		rule, err := RuleFor(&ev)
		if err != nil || !strings.Contains(rule.Text(), c.want) {
			t.Errorf("%s: %q %v, want %q", name, rule.Text(), err, c.want)
		}
	}
	// An input of maxInput bytes is the longest that a rule repeats.
	for _, extra := range []int{0, 1} {
		input := `{"a":"` + strings.Repeat("x", maxInput-len(`{"a":""}`)+extra) + `"}`
		for name, one := range map[string]event.Tool{
			"a tool":    {Name: "X", Input: []byte(input)},
			"a command": {Name: "Bash", Kind: event.Shell, Commands: []string{"make"}, Input: []byte(input)},
		} {
			ev := tool(one)
			if _, err := RuleFor(&ev); (err == nil) != (extra == 0) {
				t.Errorf("%s with an input of %d bytes: got error %v, want one %v", name, len(input), err, extra > 0)
			}
		}
	}
}

// The setting's values are these levels, in this order.
func TestLevelsAreTheSettings(t *testing.T) {
	var levels []string
	for _, l := range Levels() {
		levels = append(levels, string(l))
	}
	if !slices.Equal(levels, config.ApprovalLevels) {
		t.Errorf("the levels are %q, and %s takes %q", levels, config.ApprovalsPolicy, config.ApprovalLevels)
	}
}

// A call that is told of twice has one key; without a number it has none.
func TestRepeatKeys(t *testing.T) {
	call := func(id, command string, kind event.Kind) *event.Event {
		return &event.Event{Agent: "a", Session: "s", Kind: kind,
			Tool: &event.Tool{Name: "Bash", Kind: event.Shell, CallID: id, Commands: []string{command}}}
	}
	if got := RepeatKey(&event.Event{Kind: event.ToolBefore}); got != "" {
		t.Errorf("no call has the key %q", got)
	}
	if got := RepeatKey(call("", "ls", event.ToolBefore)); got != "" {
		t.Errorf("a call without a number has the key %q", got)
	}
	one := RepeatKey(call("1", "ls", event.ToolBefore))
	if one == "" || one != RepeatKey(call("1", "ls", event.ToolBefore)) {
		t.Errorf("the same call has other keys: %q", one)
	}
	for name, other := range map[string]*event.Event{
		"number": call("2", "ls", event.ToolBefore), "command": call("1", "ls -l", event.ToolBefore),
		"kind": call("1", "ls", event.PermissionRequest),
	} {
		if RepeatKey(other) == one {
			t.Errorf("another %s has the same key", name)
		}
	}
	// Two commands are not one that holds both.
	two := call("1", "", event.ToolBefore)
	two.Tool.Commands = []string{"a", "b"}
	if RepeatKey(two) == RepeatKey(call("1", "ab", event.ToolBefore)) {
		t.Error("two commands have the key of their texts joined")
	}
}
