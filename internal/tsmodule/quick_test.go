package tsmodule

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// TestShortForm: a single call of a tool travels in a form of its own, and must
// say the same as the long one, whatever is in the input.
func TestShortForm(t *testing.T) {
	s := newStage(t, nil)
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
		command := objectOf([]byte(input))["command"].(string)
		ev := &event.Event{Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Session: "s", Cwd: "/ü \"p\"",
			Tool: &event.Tool{Name: "Bash", Kind: event.Shell, CallID: "t\n1", Commands: []string{command}, Input: []byte(input)}}
		d := s.must(m, ev)
		var got []any
		if err := json.Unmarshal([]byte(d.Reason), &got); err != nil || d.Verdict != event.Deny {
			t.Fatalf("%q: %+v", input, d)
		}
		shown, own := got[1].(map[string]any), got[2].(map[string]any)
		if got[0] != "bash" || got[3] != "Bash" || got[4] != ev.Cwd || shown["command"] != command || own["command"] != command {
			t.Errorf("%q: %s", input, d.Reason)
		}
		if keys := strings.Join(strings.Fields(strings.Trim(string(encoded(got[5])), "[]")), ""); keys != `"input","toolCallId","toolName","type","native"` {
			t.Errorf("%q: %s", input, keys)
		}
	}
}

// TestStandsAlone: a file that needs another one, or asks where it lies, is
// bundled.
func TestStandsAlone(t *testing.T) {
	for text, want := range map[string]bool{
		"export default () => {};": true,
		"import type { HookAPI } from \"hookmux\";\nexport default (h: HookAPI) => {};": true,
		"import type {\n  A,\n  B,\n} from 'x'\nexport default () => {};":               true,
		"import { readFileSync } from \"node:fs\";":                                     false,
		"import type { A } from \"a\"; import b from \"b\";":                            false,
		"const fs = require(\"fs\");":                                                   false,
		"export * from \"./other\";":                                                    false,
		"const x = await import(\"./x\");":                                              false,
		"console.log(__dirname);":                                                       false,
		"console.log(import.meta.url);":                                                 false,
	} {
		if got := standsAlone([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
