package acp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// played gives lines to a conversation ("> " the editor's, "< " the agent's) and
// decodes what is told, as the daemon does.
func played(t *testing.T, argv []string, lines string) (name string, events []event.Event) {
	t.Helper()
	c := &Conversation{Naming: NameAgent(agent.Builtin(), "", argv)}
	add := func(list ...Report) {
		for _, r := range list {
			ev := agent.Builtin().Decode(agent.Input{ID: "1", Agent: c.AgentName(), Event: r.Event, Payload: r.Payload})
			if ev.Malformed != "" {
				t.Errorf("%s: malformed: %s, want it read: %s", r.Event, ev.Malformed, r.Payload)
			}
			events = append(events, ev)
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		m, ok := ReadMessage([]byte(line[2:]))
		if !ok {
			t.Fatalf("%q is no message, want one", line)
		}
		var step Step
		if line[0] == '>' {
			step = c.FromEditor(&m)
		} else {
			step = c.FromAgent(&m)
		}
		add(step.Reports...)
		if step.Permission != nil {
			add(step.Permission.Report)
		}
	}
	add(c.Close()...)
	return c.AgentName(), events
}

func summary(events []event.Event) string {
	var b strings.Builder
	for _, ev := range events {
		b.WriteString(string(ev.Kind))
		if ev.Tool != nil {
			b.WriteString(" " + ev.Tool.Name + "/" + string(ev.Tool.Kind))
			b.WriteString(" " + strings.Join(append(ev.Tool.Commands, ev.Tool.Writes...), ","))
		}
		for _, text := range []string{ev.Prompt, ev.Title, ev.Message, ev.Error, ev.Detail} {
			if text != "" {
				b.WriteString(" " + text)
			}
		}
		if ev.Truncated {
			b.WriteString(" (title only)")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A form stays with the editor; the session waits until it's answered or taken back.
func TestForms(t *testing.T) {
	_, events := played(t, []string{"x"}, `
> {"id":1,"method":"session/new","params":{"cwd":"/p"}}
< {"id":1,"result":{"sessionId":"s1"}}
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Ask me"}]}}
< {"id":5,"method":"elicitation/create","params":{"sessionId":"s1","mode":"form","message":"Which colour?","requestedSchema":{"type":"object","properties":{}}}}
> {"id":5,"result":{"action":"accept","content":{"colour":"red"}}}
< {"id":6,"method":"elicitation/create","params":{"sessionId":"s1","mode":"url","message":"Log in","url":"https://x.example/","elicitationId":"e1"}}
< {"method":"$/cancel_request","params":{"requestId":6}}
< {"id":7,"method":"elicitation/create","params":{"requestId":2,"mode":"url","message":"A login of no session"}}
> {"id":7,"result":{"action":"decline"}}
`)
	want := "session.start startup\nturn.start Ask me\nuser.question Which colour?\nother accept\n" +
		"user.question Log in https://x.example/\nother cancel\nsession.end agent ended\n"
	if got := summary(events); got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
	sessions, rules := state.NewSessions(), state.Rules{}
	protocol, ok := agent.Builtin().Protocol("acp:session/prompt")
	if !ok {
		t.Fatal("the protocol is not in the catalogue")
	}
	rules.Spec = &protocol.Status
	var statuses []state.Status
	for i := range events {
		events[i].Time = time.Unix(int64(1000+i), 0)
		statuses = append(statuses, sessions.ApplyNumbered(&events[i], 0, rules).To)
	}
	if want := []state.Status{state.Idle, state.Running, state.WaitingForYou, state.Running, state.WaitingForYou, state.Running}; !slices.Equal(statuses[:6], want) {
		t.Errorf("it is %v, want %v", statuses, want)
	}
}

// Claude Code's calls come with their input, after a first line without.
func TestClaudeConversation(t *testing.T) {
	name, events := played(t, []string{"x"}, `
> {"id":0,"method":"initialize","params":{"clientInfo":{"name":"zed"}}}
< {"id":0,"result":{"agentInfo":{"name":"@agentclientprotocol/claude-agent-acp","version":"0.99.1"}}}
> {"id":1,"method":"session/new","params":{"cwd":"/p"}}
< {"id":1,"result":{"sessionId":"s1","modes":{"currentModeId":"default"}}}
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Run it"},{"type":"resource_link","uri":"file:///a"}]}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","title":"A title"}}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I will run it."},"messageId":"m1"}}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1","name":"Bash","rawInput":{},"status":"pending","title":"Terminal","kind":"execute","content":[]}}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","rawInput":{"command":"echo hi"},"title":"echo hi"}}}
< {"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","name":"Bash","status":"pending","rawInput":{"command":"echo hi"},"title":"echo hi","kind":"execute","locations":[{"path":"/p/ran"}]},"options":[{"optionId":"allow-always","name":"Always","kind":"allow_always"}]}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"hi"}}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Do"},"messageId":"m2"}}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ne."},"messageId":"m2"}}}
< {"id":2,"result":{"stopReason":"end_turn"}}
`)
	const want = `session.start startup
turn.start Run it
file:///a
session.title A title
tool.before Bash/shell echo hi
tool.permission.request Bash/shell echo hi
tool.after Bash/shell echo hi
turn.end Done. end_turn
session.end agent ended
`
	if got := summary(events); got != want || name != "claude" {
		t.Errorf("%s told\n%s\nwant claude and\n%s", name, got, want)
	}
	for _, ev := range events {
		if ev.Session != "s1" || ev.Cwd != "/p" || ev.Attended != event.AttendedYes {
			t.Errorf("%s: session %q, cwd %q, attended %q; want s1, /p, yes", ev.Native, ev.Session, ev.Cwd, ev.Attended)
		}
	}
	if list := events[4].Suggestions; len(list) != 1 || agent.OfferInWords(list[0]) != `"Always"` {
		t.Errorf("offers %s, want the one option that allows always", list)
	}
}

// Codex runs commands through a shell, and its reviewer's calls do nothing.
func TestCodexConversation(t *testing.T) {
	name, events := played(t, []string{"npx", "@agentclientprotocol/codex-acp@2.6.0"}, `
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"echo hi","status":"in_progress","content":[{"type":"terminal","terminalId":"c"}],"rawInput":{"command":"/bin/bash -lc 'echo hi'","cwd":"/p"}}}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"g","kind":"think","title":"Guardian Review","status":"in_progress","rawInput":{"a":1}}}}
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","name":"exec_command","status":"failed"}}}
`)
	const want = `tool.before execute/shell /bin/bash -lc 'echo hi'
tool.after exec_command/shell /bin/bash -lc 'echo hi'
session.end agent ended
`
	if got := summary(events); got != want || name != "codex" || !events[1].Tool.Failed {
		t.Errorf("%s told\n%s\nwant codex, a failed call and\n%s", name, got, want)
	}
}

// Gemini gives no input: a command is its title, a change stands in the content.
// Of other agents a title proves nothing.
func TestTitlesOfCalls(t *testing.T) {
	const lines = `
< {"id":1,"method":"session/request_permission","params":{"sessionId":"s","options":[],"toolCall":{"toolCallId":"a","status":"pending","title":"echo hi > ran","content":[],"locations":[],"kind":"execute"}}}
< {"id":2,"method":"session/request_permission","params":{"sessionId":"s","options":[],"toolCall":{"toolCallId":"b","title":"Writing","content":[{"type":"diff","path":"/p/new","oldText":"","newText":"x"}],"locations":[{"path":"/p/new"}],"kind":"edit"}}}
< {"id":3,"method":"session/request_permission","params":{"sessionId":"s","options":[],"toolCall":{"toolCallId":"c","title":"Something","kind":"delete","locations":[{"path":"/p/old"}]}}}
`
	for program, only := range map[string]string{"gemini": "", "unknown": " (title only)"} {
		want := "tool.permission.request execute/shell echo hi > ran" + only + "\n" +
			"tool.permission.request edit/file_edit /p/new\n" +
			"tool.permission.request delete/file_write /p/old (title only)\n"
		_, events := played(t, []string{"/usr/bin/" + program}, lines)
		var asked []event.Event
		for _, ev := range events {
			if ev.Kind == event.PermissionRequest {
				asked = append(asked, ev)
			}
		}
		if got := summary(asked); got != want {
			t.Errorf("%s asked\n%s\nwant\n%s", program, got, want)
		}
	}
}

// A turn that fails or is stopped is told as such.
func TestTurnsThatDoNotEndWell(t *testing.T) {
	_, events := played(t, []string{"x"}, `
> {"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a"}]}}
< {"id":1,"error":{"code":-32603,"message":"no model"}}
> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"b"}]}}
> {"method":"session/cancel","params":{"sessionId":"s"}}
< {"id":2,"result":{"stopReason":"cancelled"}}
`)
	const want = `turn.start a
turn.end no model failed
turn.start b
other
turn.end cancelled
session.end agent ended
`
	if got := summary(events); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

// What is chosen of the options an agent offers.
func TestChosenOptions(t *testing.T) {
	once := `{"optionId":"1","name":"Yes","kind":"allow_once"}`
	always := `{"optionId":"2","name":"Always","kind":"allow_always"}`
	no, never := `{"optionId":"3","name":"No","kind":"reject_once"}`, `{"optionId":"4","name":"Never","kind":"reject_always"}`
	selected := func(id string) string { return `{"outcome":{"outcome":"selected","optionId":"` + id + `"}}` }
	for _, c := range []struct {
		options string
		said    event.Decision
		want    string
	}{
		{always + "," + once + "," + no, event.Decision{Verdict: event.Allow}, selected("1")},
		{always + "," + no, event.Decision{Verdict: event.Allow}, ""}, // nobody allowed more than this call
		{always + "," + once, event.Decision{Verdict: event.Allow, Answer: &event.Answer{Choice: event.ChooseAlways,
			Suggestion: json.RawMessage(always)}}, selected("2")},
		{never + "," + no, event.Decision{Verdict: event.Deny, Reason: "no"}, selected("3")},
		{never, event.Decision{Verdict: event.Deny, Reason: "no"}, selected("4")},
		{once, event.Decision{Verdict: event.Deny, Reason: "no"}, `{"outcome":{"outcome":"cancelled"}}`},
		{once + "," + no, event.Decision{Verdict: event.Ask, Reason: "look"}, ""},
		{once + "," + no, event.Decision{}, ""},
	} {
		ev := agent.Builtin().Decode(agent.Input{ID: "1", Agent: "claude", Event: eventPermission, Payload: []byte(
			`{"session":"s","toolName":"Bash","toolInput":{"command":"ls"},"options":[` + c.options + `]}`)})
		answer, sent := agent.Builtin().Encode(&ev, c.said)
		if answer.Stdout != c.want || answer.Exit != 0 {
			t.Errorf("%s of %s: answer %q (%+v), want %q", c.said.Verdict, c.options, answer.Stdout, sent, c.want)
		}
		if c.said.Verdict == event.Deny && answer.Stderr != "no" {
			t.Errorf("%s: reason %q, want it beside the answer", c.options, answer.Stderr)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		self string
		argv []string
		want string
	}{
		{"@agentclientprotocol/claude-agent-acp", []string{"x"}, "claude"},
		{"", []string{"node", "/opt/codex-acp/dist/index.js"}, "codex"},
		{"", []string{"npx", "-y", "@agentclientprotocol/claude-agent-acp@latest"}, "claude"},
		{"gemini-cli", []string{"gemini", "--experimental-acp"}, "gemini"},
		{"", []string{"/usr/bin/opencode", "acp"}, "opencode"},
		{"My Agent", []string{"x"}, "my-agent"},
		{"", []string{"./Own.sh"}, "own"},
		{"", []string{"./…"}, "acp-agent"},
	} {
		if got, _ := NameAgent(agent.Builtin(), "", c.argv)(c.self); got != c.want {
			t.Errorf("%q, %q: name %q, want %q", c.self, c.argv, got, c.want)
		}
	}
	if got, _ := NameAgent(agent.Builtin(), "qwen", []string{"claude"})("gemini-cli"); got != "qwen" {
		t.Errorf("name %q, want the one that was given", got)
	}
}
