package agent

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// One native event may mean several things; the payload tells.
func TestPayloadTellsTheKind(t *testing.T) {
	for _, c := range []struct {
		agent, native, payload string
		kind                   event.Kind
	}{
		{"qwen", "UserPromptSubmit", `{"prompt":"do it"}`, event.TurnStart},
		{"qwen", "UserPromptSubmit", `{"prompt":""}`, event.Other},
		{"qwen", "UserPromptSubmit", `{}`, event.Other},
		{"copilot", "agentStop", `{"sessionId":"s"}`, event.TurnEnd},
		{"copilot", "agentStop", `{"sessionId":"s","agentId":"a"}`, event.Other},
		{"opencode", "session.created", `{"type":"session.created","properties":{"info":{}}}`, event.SessionStart},
		{"opencode", "session.created", "\xef\xbb\xbf" + `{"type":"session.created","properties":{"info":{"parentID":"p"}}}`, event.SubagentStart},
		{"opencode", "session.idle", `{"type":"session.idle","properties":{"sessionID":"c"},"plugin":{"parent":"p"}}`, event.SubagentEnd},
		{"opencode", "session.idle", `{"type":"session.idle","properties":{"sessionID":"c"},"plugin":{"parent":null}}`, event.TurnEnd},
	} {
		if ev := decodeText(c.agent, c.native, c.payload); ev.Kind != c.kind {
			t.Errorf("%s %s: ev.Kind = %s, want %q", c.agent, c.payload, ev.Kind, c.kind)
		}
	}
}

func TestFieldsBelowOthers(t *testing.T) {
	ev := decodeText("opencode", "session.idle", `{"type":"session.idle","properties":{"sessionID":"c"},"plugin":{"parent":"p","agent":"general","version":"1.19.0","attended":false,"message":"done"}}`)
	if ev.Session != "c" || ev.AgentVersion != "1.19.0" || ev.Attended != event.AttendedNo || ev.Message != "done" ||
		*ev.Subagent != (event.Subagent{ID: "c", Type: "general", Parent: "p"}) {
		t.Errorf(`ev = %+v, ev.Subagent = %+v; want ev.Session = "c", ev.AgentVersion = "1.19.0", ev.Attended = `+
			`event.AttendedNo, ev.Message = "done" and *ev.Subagent = (event.Subagent{ID: "c", Type: "general", Parent: "p"})`,
			ev, ev.Subagent)
	}
	ev = decodeText("opencode", "", `{"hook":"chat.message","input":{"sessionID":"s"},"output":{"message":{"id":"m"},"parts":[{"type":"text","text":"one"},{"type":"file","url":"u"},{"type":"text","text":"two"}]}}`)
	if ev.Native != "chat.message" || ev.Prompt != "one\ntwo" || ev.Turn != "m" || ev.Subagent != nil {
		t.Errorf(`ev = %+v, want ev.Native = "chat.message", ev.Prompt = "one\ntwo", ev.Turn = "m" and ev.Subagent `+
			`= nil`, ev)
	}
	ev = decodeText("opencode", "event", `{"hook":"tool.execute.after","input":{"sessionID":"s","tool":"bash","args":{"command":"false"}},"output":{"output":"","metadata":{"exit":1}}}`)
	if ev.Kind != event.ToolAfter || !ev.Tool.Failed || !reflect.DeepEqual(ev.Tool.Commands, []string{"false"}) {
		t.Errorf(`ev = %+v, ev.Tool = %+v; want ev.Kind = event.ToolAfter, ev.Tool.Failed and ev.Tool.Commands = `+
			`[]string{"false"}`, ev, ev.Tool)
	}
	ev = decodeText("kimi", "UserPromptSubmit", `{"prompt":[{"type":"text","text":"hi"},"there",{"type":"image"}]}`)
	if ev.Prompt != "hi\nthere" {
		t.Errorf(`ev.Prompt = %q, want "hi\nthere"`, ev.Prompt)
	}
	if ev = decodeText("kimi", "UserPromptSubmit", `{"prompt":[{"type":"image"}]}`); ev.Prompt != `[{"type":"image"}]` {
		t.Errorf(`ev.Prompt = %q, want [{"type":"image"}]`, ev.Prompt)
	}
	if ev = decodeText("kimi", "PermissionRequest", `{"session_id":"s","agent_id":"main"}`); ev.Subagent != nil {
		t.Errorf("ev.Subagent = %+v, want nil", ev.Subagent)
	}
	if ev = decodeText("kimi", "PermissionRequest",
		`{"session_id":"s","agent_id":"a7"}`); *ev.Subagent != (event.Subagent{ID: "a7", Parent: "s"}) {
		t.Errorf(`ev.Subagent = %+v, want *ev.Subagent = (event.Subagent{ID: "a7", Parent: "s"})`, ev.Subagent)
	}
}

// Some versions of an agent hand on the words of the model's call.
func TestInputInWordsIsUnwrapped(t *testing.T) {
	ev := decodeText("copilot", "preToolUse", `{"toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`)
	if !reflect.DeepEqual(ev.Tool.Commands, []string{"ls"}) || string(ev.Tool.Input) != `{"command":"ls"}` {
		t.Errorf(`ev.Tool = %+v, want ev.Tool.Commands = []string{"ls"} and string(ev.Tool.Input) = {"command":"ls"}`,
			ev.Tool)
	}
	if ev = decodeText("copilot", "preToolUse", `{"toolName":"bash","toolArgs":"{broken"}`); string(
		ev.Tool.Input) != `"{broken"` {
		t.Errorf(`ev.Tool.Input = %s, want "{broken"`, ev.Tool.Input)
	}
	ev = decodeText("copilot", "postToolUse", `{"toolName":"bash","toolArgs":{},"toolResult":{"resultType":"failure"}}`)
	if !ev.Tool.Failed {
		t.Error("a failure is a failure")
	}
}

func TestVersionsAreReadFromTheEnvironment(t *testing.T) {
	for agent, variable := range map[string]string{"qwen": "QWEN_CODE_STARTUP_VERSION",
		"copilot": "COPILOT_CLI_BINARY_VERSION"} {
		ev := Builtin().Decode(Input{Agent: agent, Event: "Stop", Payload: []byte(`{}`), Env: func(k string) string {
			return map[string]string{variable: "1.2.3"}[k]
		}})
		if ev.AgentVersion != "1.2.3" {
			t.Errorf(`%s: ev.AgentVersion = %s, want "1.2.3"`, agent, ev.AgentVersion)
		}
	}
}

// Gemini waits for ever for a person who is not there.
func TestAskNeedsAPersonWhereTheAgentWouldHang(t *testing.T) {
	ask := event.Decision{Verdict: event.Ask, Reason: "look"}
	for attended, want := range map[event.Attended]string{
		event.AttendedUnknown: `{"decision":"deny","reason":"look","systemMessage":"Blocked: look"}`,
		event.AttendedNo:      `{"decision":"deny","reason":"look","systemMessage":"Blocked: look"}`,
		event.AttendedYes:     `{"decision":"ask","reason":"look","systemMessage":"look"}`,
	} {
		ev := decodeFixture(t, "gemini", "BeforeTool.run_shell_command.json")
		ev.Attended = attended
		if answer, _ := Builtin().Encode(&ev, ask); answer.Stdout != want {
			t.Errorf("%q: answer.Stdout = %s, want %q", attended, answer.Stdout, want)
		}
		if Builtin().CarriesFor(&ev).Ask != (attended == event.AttendedYes) {
			t.Errorf("%q: carries; want Builtin().CarriesFor(&ev).Ask == (attended == event.AttendedYes)", attended)
		}
	}
}

func TestDegradedIsSaidByTheOthersToo(t *testing.T) {
	change := event.Decision{Verdict: event.Modify, Input: js(`{"command":"ls"}`)}
	for _, c := range []struct {
		agent, fixture string
		d              event.Decision
		verdict        event.Verdict
		note           string
	}{
		{"gemini", "BeforeTool.run_shell_command.json", event.Decision{Verdict: event.Allow}, event.None, "allow → none"},
		{"gemini", "AfterTool.run_shell_command.json", event.Decision{Verdict: event.Deny, Context: "C"}, event.Deny, "not tried beside a refusal"},
		{"qwen", "PreToolUse.run_shell_command.json", change, event.Deny, "cannot take a changed input"},
		{"qwen", "PermissionRequest.run_shell_command.json", change, event.Deny, "which nobody gave"},
		{"copilot", "permissionRequest.bash.json", event.Decision{Verdict: event.Allow, Input: js(`{"command":"ls"}`)}, event.Deny, "cannot take a changed input"},
		{"copilot", "preToolUse.bash.json", event.Decision{Verdict: event.Ask, Input: js(`{"command":"ls"}`)}, event.Deny, "ask with changed input"},
		{"copilot", "postToolUse.bash.json", event.Decision{Output: js(`"x"`), Context: "C"}, event.None, "beside a changed result"},
		{"kimi", "PreToolUse.json", event.Decision{Verdict: event.Ask}, event.Deny, "ask → deny"},
		{"kimi", "PermissionRequest.tui.json", event.Decision{Verdict: event.Deny}, event.None, "nothing can be stopped"},
		{"droid", "PreToolUse.json", change, event.Deny, "which nobody gave"},
		{"droid", "PreToolUse.json", event.Decision{Verdict: event.Ask}, event.Deny, "ask → deny"},
		{"opencode", "hook.tool.execute.before.bash.json", event.Decision{Verdict: event.Ask}, event.Deny, "ask → deny"},
		{"opencode", "hook.tool.execute.before.bash.json", event.Decision{Verdict: event.Allow}, event.None, "allow → none"},
	} {
		ev := decodeFixture(t, c.agent, c.fixture)
		answer, sent := Builtin().Encode(&ev, c.d)
		if sent.Verdict != c.verdict || !strings.Contains(strings.Join(sent.DegradedText(), "; "), c.note) {
			t.Errorf("%s %s %+v:\n got %s %q %s; want sent.Verdict == c.verdict and c.note in "+
				"strings.Join(sent.DegradedText(), \"; \")",
				c.agent, c.fixture, c.d, sent.Verdict.Word(), sent.Degraded, answer.Stdout)
		}
	}
}

func TestMarksTellTheOthersApart(t *testing.T) {
	c := Builtin()
	for script, want := range map[string]string{
		"/x/node_modules/@google/gemini-cli/bundle/gemini.js":            "gemini",
		"/x/node_modules/@tencent-ai/agent-sdk/cli/bin/codebuddy":        "codebuddy",
		"/x/node_modules/@qwen-code/qwen-code/cli-entry.js":              "qwen",
		"/x/node_modules/@github/copilot/index.js":                       "copilot",
		"/x/node_modules/@moonshot-ai/kimi-code/dist/main.mjs":           "kimi",
		"/x/node_modules/@factory/cli-linux-x64/bin/droid":               "droid",
		"/x/node_modules/opencode-linux-x64/bin/opencode":                "opencode",
		"/x/node_modules/@earendil-works/pi-coding-agent/dist/cli.js":    "pi",
		"/x/node_modules/@mariozechner/pi-coding-agent/dist/bundle/x.js": "pi",
		"/x/node_modules/pino/index.js":                                  "",
	} {
		a, ok := c.ByProgram("node", "/usr/bin/node", script)
		if ok != (want != "") || ok && a.Name != want {
			t.Errorf(`%s: a = %+v, want ok = (want != "") and not ok && a.Name != want`, script, a)
		}
	}
	for alias, want := range map[string]string{"factory": "droid", "kimi-code": "kimi"} {
		if a, ok := c.Agent(alias); !ok || a.Name != want {
			t.Errorf("%s is not %s; want ok and a.Name == want", alias, want)
		}
	}
	// Qwen's hooks carry Gemini's variable for the project as well.
	env := func(k string) string {
		return map[string]string{"QWEN_CODE_SESSION_ID": "s", "GEMINI_PROJECT_DIR": "/p", "CLAUDE_PROJECT_DIR": "/p"}[k]
	}
	if a, _, ok := c.BelowAgent(env); !ok || a.Name != "qwen" {
		t.Errorf(`a = %+v, want ok and a.Name = "qwen"`, a)
	}
}
