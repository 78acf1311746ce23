package plugins_test

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

func piEmit(name string, event step) step {
	event["type"] = name
	return step{"do": "call", "name": name, "event": event}
}

func piSays(words, stop string) step {
	return piEmit("message_end", step{"message": step{"role": "assistant", "stopReason": stop, "errorMessage": "broken",
		"content": []step{{"type": "text", "text": words}}}})
}

func TestPiDecisions(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		switch {
		case r.Event == "input" && strings.Contains(string(r.Payload), "deny me"):
			return `{"action":"handled","notice":"not here"}`
		case strings.Contains(string(r.Payload), "deny me"):
			return `{"block":true,"reason":"not here"}`
		case strings.Contains(string(r.Payload), "change me"):
			return `{"input":{"command":"changed"}}`
		case r.Event == "tool_result":
			return `{"content":[{"type":"text","text":"other words"}]}`
		case r.Event == "input":
			return `{"message":{"customType":"hookmux","content":"mind the gap","display":true}}`
		case r.Event == "session_before_compact":
			return `{"cancel":true}`
		}
		return ""
	})
	p := play(t, "pi", h.dir, plugins.Options{}, nil,
		piEmit("input", step{"text": "do it", "source": "interactive"}),
		piEmit("before_agent_start", step{"prompt": "do it"}),
		piCall("plain", "ls"), piCall("denied", "deny me"), piCall("changed", "change me"),
		await("plain"), await("denied"), await("changed"),
		piEmit("tool_result", step{"toolName": "bash", "toolCallId": "x", "input": step{},
			"content": []step{{"type": "text", "text": "out"}}, "isError": false}),
		step{"do": "call", "as": "joined", "name": "input",
			"event": step{"text": "steer", "source": "interactive", "streamingBehavior": "steer"}}, await("joined"),
		step{"do": "call", "as": "refused", "name": "input", "event": step{"text": "deny me", "source": "interactive"}},
		await("refused"),
		piEmit("session_before_compact", step{"reason": "manual"}))
	if refused, input := evaluated(t, "pi", p, "plain"); refused != "" || !strings.Contains(input, `"command":"ls"`) {
		t.Errorf("no opinion became %q %s", refused, input)
	}
	if refused, _ := evaluated(t, "pi", p, "denied"); refused != "not here" {
		t.Errorf(`refused %q, want "not here"`, refused)
	}
	if _, input := evaluated(t, "pi", p, "changed"); !strings.Contains(input, `"input":{"command":"changed"}`) {
		t.Errorf("changed input: %s; want `\"input\":{\"command\":\"changed\"}` in input", input)
	}
	for as, want := range map[string]string{
		"before_agent_start":     `{"message":{"customType":"hookmux","content":"mind the gap","display":true}}`,
		"tool_result":            `{"content":[{"type":"text","text":"other words"}]}`,
		"refused":                `{"action":"handled"}`,
		"joined":                 `{"action":"transform","text":"steer\n\nmind the gap"}`,
		"session_before_compact": `{"cancel":true}`,
	} {
		if _, returned, _, _ := p.call(t, as); returned != want {
			t.Errorf("%s returned %s, want %s", as, returned, want)
		}
	}
	got := h.events(t, event.ToolBefore)
	if len(got) != 3 || got[0].Session != "pi-1" || got[0].Transcript != "/s/pi-1.jsonl" ||
		got[0].Cwd != "/src/project" || got[0].Attended != event.AttendedYes || len(got[0].Tool.Commands) != 1 {
		t.Errorf("events: %+v; want three, the first with session, transcript, folder, one command, attended", got)
	}
	if got := h.events(t, event.TurnStart); len(got) != 3 || got[0].Prompt != "do it" {
		t.Errorf(`prompts: %+v; want len(got) == 3 and got[0].Prompt == "do it"`, got)
	}
}

// What a hook written for pi says in pi's own words is returned as it is.
func TestPiTakesItsOwnWords(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, answers(map[string]string{
		"input":                  `{"action":"transform","text":"rewritten","systemPrompt":"and be brief"}`,
		"tool_result":            `{"content":[{"type":"text","text":"x"}],"details":{"n":1},"isError":true}`,
		"session_before_compact": `{"compaction":{"summary":"short","firstKeptEntryId":"e2","tokensBefore":9}}`,
		"session_before_switch":  `{"cancel":true}`,
		"session_before_fork":    `{"skipConversationRestore":true}`,
	}))
	p := play(t, "pi", h.dir, plugins.Options{}, nil,
		piEmit("input", step{"text": "do it", "source": "interactive"}),
		piEmit("before_agent_start", step{"prompt": "do it", "systemPrompt": "You are pi."}),
		piEmit("tool_result", step{"toolName": "bash", "toolCallId": "x", "input": step{}, "content": []step{},
			"isError": false}),
		piEmit("session_before_compact", step{"reason": "manual", "preparation": step{"firstKeptEntryId": "e2"},
			"branchEntries": []step{{"id": "e1"}}}),
		piEmit("session_before_switch", step{"reason": "new"}),
		piEmit("session_before_fork", step{"entryId": "e1"}))
	for as, want := range map[string]string{
		"input":                  `{"action":"transform","text":"rewritten"}`,
		"before_agent_start":     `{"systemPrompt":"You are pi.\n\nand be brief"}`,
		"tool_result":            `{"content":[{"type":"text","text":"x"}],"isError":true,"details":{"n":1}}`,
		"session_before_compact": `{"compaction":{"summary":"short","firstKeptEntryId":"e2","tokensBefore":9}}`,
		"session_before_switch":  `{"cancel":true}`,
		"session_before_fork":    `{"skipConversationRestore":true}`,
	} {
		if _, returned, _, _ := p.call(t, as); returned != want {
			t.Errorf("%s returned %s, want %s", as, returned, want)
		}
	}
	for _, ev := range h.events(t, event.CompactBefore) {
		if raw := string(ev.Raw); !strings.Contains(raw, `"firstKeptEntryId":"e2"`) ||
			!strings.Contains(raw, `"branchEntries":[{"id":"e1"}]`) {
			t.Errorf("a compaction was told as %s", raw)
		}
	}
}

func TestPiAsksHere(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, answers(map[string]string{"tool_call": `{"ask":"writes outside"}`}))
	for _, c := range []struct{ mode, confirm, want string }{{"tui", "yes", ""}, {"tui", "no", "writes outside"},
		{"print", "yes", "writes outside"}} {
		p := play(t, "pi", h.dir, plugins.Options{}, []string{"HARNESS_MODE=" + c.mode, "HARNESS_CONFIRM=" + c.confirm},
			piCall("call", "ls \u202e\x1b[2J"))
		if refused, _ := evaluated(t, "pi", p, "call"); refused != c.want {
			t.Errorf("%s %s: refused %q, want %q", c.mode, c.confirm, refused, c.want)
		}
		if shown := strings.Join(p.Notices, ""); (c.mode == "tui") != strings.Contains(shown, `ls \u{202e}\u{1b}[2J`) {
			t.Errorf("%s: shown %q; want (c.mode == \"tui\") == strings.Contains(shown, `ls "+
				"\\u{202e}\\u{1b}[2J`)", c.mode, shown)
		}
	}
}

func TestPiAbort(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(*frame.Request) string { return silent })
	p := play(t, "pi", h.dir, plugins.Options{}, nil, piCall("pending", "ls"), got(1), step{"do": "abort"},
		await("pending"))
	if refused, _ := evaluated(t, "pi", p, "pending"); !strings.Contains(refused, "aborted") {
		t.Errorf(`refused %q; want "aborted" in refused`, refused)
	}
}

func TestPiOneFinishPerTurn(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		if r.Event == "agent_before_settle" && strings.Contains(string(r.Payload), "first try") {
			return `{"continue":true,"entries":[{"type":"custom_message","customType":"hookmux","content":"run the tests","display":true}]}`
		}
		return ""
	})
	start := func() step { return piEmit("session_start", step{"reason": "startup"}) }
	input := func() step { return piEmit("input", step{"text": "go", "source": "interactive"}) }
	end := func() step { return piEmit("agent_end", step{"messages": []step{}}) }
	settled := func() step { return piEmit("agent_settled", step{}) }
	before := func(as, outcome string) step {
		s := piEmit("agent_before_settle", step{"outcome": outcome})
		s["as"] = as
		return s
	}
	p := play(t, "pi", h.dir, plugins.Options{}, nil,
		start(), start(), // RPC says it twice
		input(), piEmit("before_agent_start", step{}), piSays("first try", "stop"), end(), before("kept", "completed"),
		await("kept"),
		piSays("second try", "stop"), end(), before("let", "completed"), await("let"), settled(),
		input(), piSays("", "error"), end(), end(), end(), before("failed", "error"), await("failed"), settled(),
		input(), piSays("", "aborted"), end(), settled(),
		piEmit("tool_execution_end", step{"toolCallId": "b1", "toolName": "nosuch", "isError": true,
			"result": step{"content": []step{{"type": "text", "text": "not found"}}}}),
		piEmit("tool_execution_end", step{"toolCallId": "b2", "toolName": "bash", "isError": false, "result": step{}}),
		piEmit("session_shutdown", step{"reason": "quit"}))
	want := "session_start input agent_before_settle agent_before_settle input agent_before_settle input " +
		"agent_settled tool_execution_end session_shutdown"
	if got := h.heard(); got != want {
		t.Fatalf("heard %s\nwant  %s", got, want)
	}
	if _, returned, _, _ := p.call(t, "kept"); returned != `{"continue":true,"entries":[{"type":"custom_message","customType":"hookmux","content":"run the tests","display":true}]}` {
		t.Errorf(`returned = %q, want `+
			`{"continue":true,"entries":[{"type":"custom_message","customType":"hookmux","content":"run the tests","display":true}]}`,
			returned)
	}
	if _, returned, _, _ := p.call(t, "let"); returned != "" {
		t.Errorf(`returned = %q, want ""`, returned)
	}
	ends := h.events(t, event.TurnEnd)
	if len(ends) != 4 || ends[1].Message != "second try" || ends[1].Detail != "completed" ||
		ends[2].Detail != "error" || ends[3].Detail != "cancelled" {
		t.Errorf(`ends: %+v; want len(ends) == 4, ends[1].Message == "second try", ends[1].Detail == `+
			`"completed", ends[2].Detail == "error" and ends[3].Detail == "cancelled"`, ends)
	}
	if got, _ := h.payload(t, "agent_before_settle", 1)["plugin"].(map[string]any); !isTrue(got["goingOn"]) {
		t.Errorf(`kept going: %v; want isTrue(got["goingOn"])`, got)
	}
	if got, _ := h.payload(t, "agent_before_settle", 2)["plugin"].(map[string]any); got["error"] != "broken" {
		t.Errorf(`failed: %v; want got["error"] == "broken"`, got)
	}
	if got := h.events(t, event.ToolAfter); len(got) != 1 || got[0].Tool.Name != "nosuch" || !got[0].Tool.Failed {
		t.Errorf(`unknown tool: %+v; want len(got) == 1, got[0].Tool.Name == "nosuch" and got[0].Tool.Failed`, got)
	}
}

// Versions before 0.80 never say that they have settled.
func TestPiThatDoesNotSettle(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	play(t, "pi", h.dir, plugins.Options{}, nil,
		piEmit("input", step{"text": "go"}), piSays("done", "stop"), piEmit("agent_end", step{}),
		piEmit("session_shutdown", step{"reason": "quit"}))
	if got := h.heard(); got != "input agent_end session_shutdown" {
		t.Errorf(`heard %s, want "input agent_end session_shutdown"`, got)
	}
}

func TestPiToleratesALeanContext(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	node(t)
	dir := t.TempDir()
	writeFile(t, dir, "plugin.mjs", render(t, "pi", plugins.Options{Version: "1"}))
	writeFile(t, dir, "lean.mjs", `import plugin from "./plugin.mjs";
plugin(undefined); plugin({}); plugin({ on() { throw new Error("no") } });
const on = new Map();
plugin({ on: (name, f) => on.set(name, f) });
for (const [name, f] of on) for (const ctx of [undefined, {}, new Proxy({}, { get() { throw new Error("stale") } })]) {
  const got = await f({ type: name }, ctx);
  if (got !== undefined && got.trusted !== "undecided") throw new Error(name + " returned " + JSON.stringify(got));
}
`)
	runNode(t, h.dir, dir+"/lean.mjs")
}
