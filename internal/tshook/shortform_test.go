package tshook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// A single call of a tool travels in a form of its own, and must
// say the same as the long one, whatever is in the input.
func TestShortForm(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("short.ts", `export default (h: any) => h.on("tool_call", async (e: any, ctx: any) => ({
  block: true, reason: JSON.stringify([e.toolName, e.input, e.native.input, e.native.toolName, ctx.cwd, Object.keys(e)]),
}));`)
	for _, input := range []string{
		`{"command":"ls","description":"x"}`,
		"{\n  \"command\": \"ls\",\n  \"n\": 12345678901234567890\n}",
		`{"command":"say \"hi\"\n\u2028 ü"}`,
		"{\"command\":\"broken \xff\"}",
		`{"command":"a","command":"ls"}`,
	} {
		command := pi.ParseObject([]byte(input))["command"].(string)
		ev := &event.Event{Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Session: "s", Cwd: "/ü \"p\"",
			Tool: &event.Tool{Name: "Bash", Kind: event.Shell, CallID: "t\n1", Commands: []string{command},
				Input: []byte(input)}}
		d := s.must(m, ev)
		var got []any
		if err := json.Unmarshal([]byte(d.Reason), &got); err != nil || d.Verdict != event.Deny {
			t.Fatalf("%q: d = %+v, want no error and d.Verdict = event.Deny", input, d)
		}
		shown, own := got[1].(map[string]any), got[2].(map[string]any)
		if got[0] != "bash" || got[3] != "Bash" || got[4] != ev.Cwd || shown["command"] != command ||
			own["command"] != command {
			t.Errorf(`%q: d.Reason = %s, want got[0] = "bash", got[3] = "Bash", got[4] = ev.Cwd, shown["command"] = `+
				`%q and own["command"] = %q`, input, d.Reason, command, command)
		}
		if keys := strings.Join(strings.Fields(strings.Trim(string(pi.Encode(got[5])), "[]")),
			""); keys != `"input","toolCallId","toolName","type","native"` {
			t.Errorf(`%q: keys = %s, want "input","toolCallId","toolName","type","native"`, input, keys)
		}
	}
}
