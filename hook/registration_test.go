package hook

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func good() Registration {
	return Registration{ID: "no-prod", Agent: "*", HookType: "tool.before", Handler: "command", Target: "exit 2"}
}

func knownAgent(name string) bool { return name == "claude" || name == "codex" }
func knownType(agent, native string) bool {
	return native == "PreToolUse" && (agent == "claude" || agent == Any)
}

func TestCheckTakesWhatIsRight(t *testing.T) {
	for _, change := range []func(*Registration){
		func(*Registration) {},
		func(r *Registration) { r.Agent = "claude" },
		func(r *Registration) { r.HookType = "*" },
		func(r *Registration) { r.HookType = "PreToolUse" },
		func(r *Registration) { r.Role = Observe },
		func(r *Registration) { r.Timeout = Duration(MaxTimeout) },
		func(r *Registration) { r.Format, r.OnFailure, r.SkipAgents = Claude, FailAsk, []string{"claude"} },
		func(r *Registration) {
			r.Match = &Match{Tool: "shell", Name: "{Bash,mcp__*}", Command: `\bdeploy prod\b`, Path: "src/**/*.go"}
		},
		func(r *Registration) { r.Match = &Match{} },
		func(r *Registration) { r.ID = "größe.1/α" },
	} {
		r := good()
		change(&r)
		if err := r.Check(knownAgent, knownType); err != nil {
			t.Errorf("%+v: error %v, want no error", r, err)
		}
	}
	r := Registration{ID: "x", Agent: "anything", HookType: "Whatever", Handler: "builtin", Target: "log",
		SkipAgents: []string{"nobody"}}
	if err := r.Check(nil, nil); err != nil {
		t.Error("without a catalogue names are not evaluated:", err)
	}
}

// agent-mux took all of these without a word.
func TestCheckNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		change func(*Registration)
		named  string
	}{
		{func(r *Registration) { r.ID = "" }, "id is missing"},
		{func(r *Registration) { r.ID = "a b" }, `"a b"`},
		{func(r *Registration) { r.ID = "a\x1b" }, `"a\x1b"`},
		{func(r *Registration) { r.ID = "a\u202eb" }, `"a\u202eb"`},
		{func(r *Registration) { r.ID = "a\u00a0b" }, "blanks"},
		{func(r *Registration) { r.Agent = "" }, "agent is missing"},
		{func(r *Registration) { r.Agent = "clod" }, `agent "clod" is unknown`},
		{func(r *Registration) { r.HookType = "" }, "hookType is missing"},
		{func(r *Registration) { r.HookType = "StopHook" }, `hookType "StopHook" is neither a kind (tool.before, turn.end, …) nor an event of any agent`},
		{func(r *Registration) { r.Agent, r.HookType = "codex", "PreToolUse" }, "an event of codex"},
		{func(r *Registration) { r.Agent, r.HookType = "codex", "PreToolUse" }, "`hookmux hooks discover codex`"},
		{func(r *Registration) { r.Agent, r.HookType = Any, "StopHook" }, "`hookmux hooks discover '*'`"},
		{func(r *Registration) { r.Handler = "shell" }, `handler "shell"`},
		{func(r *Registration) { r.Handler = "" }, `handler ""`},
		{func(r *Registration) { r.Target = " \n" }, "target is missing"},
		{func(r *Registration) { r.Role = "gard" }, `role "gard"`},
		{func(r *Registration) { r.Format = "gemini" }, `format "gemini"`},
		{func(r *Registration) { r.OnFailure = "allow" }, `onFailure "allow"`},
		{func(r *Registration) { r.Timeout = -1 }, "timeout -1ns is out of range"},
		{func(r *Registration) { r.Timeout = Duration(MaxTimeout + 1) }, "out of range"},
		{func(r *Registration) { r.SkipAgents = []string{"clod"} }, `skipAgents: agent "clod"`},
		{func(r *Registration) { r.Match = &Match{Tool: "bash"} }, `match.tool "bash"`},
		{func(r *Registration) { r.Match = &Match{Name: "[a"} }, `match.name "[a"`},
		{func(r *Registration) { r.Match = &Match{Path: "{a"} }, `match.path "{a"`},
		{func(r *Registration) { r.Match = &Match{Command: "("} }, "match.command:"},
	} {
		r := good()
		c.change(&r)
		err := r.Check(knownAgent, knownType)
		if err == nil || !strings.Contains(err.Error(), c.named) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%+v: %v, want %s", r, err, c.named)
		}
	}
	r := Registration{Role: "x", Format: "y", OnFailure: "z"}
	err := r.Check(knownAgent, knownType)
	if err == nil || strings.Count(err.Error(), "; ") < 7 {
		t.Error("not everything is named at once:", err)
	}
}

func TestNewEntryRefusesWhatWouldNotRun(t *testing.T) {
	for _, change := range []func(*Registration){
		func(r *Registration) { r.ID = "" },
		func(r *Registration) { r.Agent = "" },
		func(r *Registration) { r.HookType = "" },
		func(r *Registration) { r.Role = "gard" },
		func(r *Registration) { r.OnFailure = "allow" },
		func(r *Registration) { r.Match = &Match{Name: "[a"} },
		func(r *Registration) { r.Match = &Match{Path: "[a"} },
		func(r *Registration) { r.Match = &Match{Command: "("} },
		func(r *Registration) { r.Match = &Match{Tool: "bash"} },
	} {
		r := good()
		change(&r)
		if e, err := NewEntry(r, HandlerFunc(nil), "global"); err == nil {
			t.Errorf("e.Registration = %+v: got no error, want one", e.Registration)
		}
	}
	if _, err := NewEntry(good(), nil, "global"); err == nil {
		t.Error("an entry without a handler")
	}
}

func TestModeFor(t *testing.T) {
	for _, c := range []struct {
		handler string
		mode    Role
		kind    event.Kind
		want    Role
	}{
		{"command", "", event.ToolBefore, Guard},
		{"script", "", event.PermissionRequest, Guard},
		{HandlerTypeScript, "", event.ToolBefore, Guard},
		{"", "", event.ToolBefore, Guard},
		{"command", "", event.ToolAfter, Advise},
		{"command", "", event.TurnEnd, Advise},
		{"command", "", event.SessionStart, Advise},
		{"builtin", "", event.ToolBefore, Observe},
		{"builtin", "", event.TurnEnd, Observe},
		{"builtin", Guard, event.TurnEnd, Guard},
		{"command", Observe, event.ToolBefore, Observe},
		{"command", Advise, event.ToolBefore, Advise},
	} {
		r := Registration{Handler: c.handler, Role: c.mode}
		if got := r.RoleFor(c.kind); got != c.want {
			t.Errorf("%+v: r.ModeFor(c.kind) = %s, want %q", c, got, c.want)
		}
	}
}

func TestFailureMeans(t *testing.T) {
	for _, c := range []struct {
		format Format
		set    OnFailure
		want   OnFailure
	}{
		{Unified, "", FailDeny}, {Claude, "", FailIgnore}, {Claude, FailDeny, FailDeny}, {Unified, FailIgnore, FailIgnore}, {Unified, FailAsk, FailAsk},
	} {
		r := Registration{Format: c.format, OnFailure: c.set}
		if got := r.FailureMeans(); got != c.want {
			t.Errorf("%+v: r.FailureMeans() = %s, want %q", c, got, c.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	var r Registration
	if !r.IsEnabled() || r.Order() != 100 {
		t.Error("a registration that says nothing is on, at 100")
	}
	off, first := false, -5
	r.Enabled, r.Priority = &off, &first
	if r.IsEnabled() || r.Order() != -5 {
		t.Error("what it says counts")
	}
}

func TestDurationJSON(t *testing.T) {
	for in, want := range map[string]time.Duration{
		`30`: 30 * time.Second, `0.5`: 500 * time.Millisecond, `"30s"`: 30 * time.Second, `"2m"`: 2 * time.Minute, `0`: 0, `null`: 0, `"1h30m"`: 90 * time.Minute,
		`9223372036`: 9223372036 * time.Second,
	} {
		var d Duration
		if err := json.Unmarshal([]byte(in), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s: time.Duration(d) = %s, error %v; want no error and time.Duration(d) = %v",
				in, time.Duration(d), err, want)
			continue
		}
		b, err := json.Marshal(d)
		var back Duration
		if err != nil || json.Unmarshal(b, &back) != nil || back != d {
			t.Errorf("%s: written as %s, read as %s", in, b, time.Duration(back))
		}
	}
	for _, in := range []string{`"soon"`, `"30"`, `true`, `[]`, `{}`, `1e300`, `-1e300`, `9223372037`, `""`} {
		var d Duration
		if err := json.Unmarshal([]byte(in), &d); err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf(`%s: time.Duration(d) = %s, error %v; want an error and "timeout" in err.Error()`,
				in, time.Duration(d), err)
		}
	}
	if b, _ := json.Marshal(Duration(1500 * time.Millisecond)); string(b) != `"1.5s"` {
		t.Errorf(`b = %s, want "1.5s"`, b)
	}
}

func TestRegistrationJSON(t *testing.T) {
	const text = `{"id":"a","agent":"*","hookType":"tool.before","handler":"command","target":"x","role":"guard","priority":0,"enabled":false,` +
		`"timeout":30,"match":{"command":"rm"},"format":"claude","onFailure":"ask","locked":true,"skipAgents":["claude"]}`
	var r Registration
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Order() != 0 || r.IsEnabled() {
		t.Error("zero and false are words, not silence")
	}
	if b, _ := json.Marshal(r); string(b) != text {
		t.Errorf("b = %s, want %q", b, text)
	}
	b, _ := json.Marshal(good())
	var keys map[string]any
	_ = json.Unmarshal(b, &keys)
	if want := []string{"id", "agent", "hookType", "handler", "target"}; len(keys) != len(want) {
		t.Errorf("b = %s, want len(keys) = %v", b, len(want))
	}
	var back Registration
	if json.Unmarshal(b, &back); !reflect.DeepEqual(back, good()) {
		t.Errorf("back = %+v, want %+v", back, good())
	}
}
