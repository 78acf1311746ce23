package tshook

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// What a file asks for and nobody carries is said, not dropped without a word.
func TestUncarriedAnswersAreTold(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("untold.ts", `export default function (pi) {
  pi.on("tool_call", (event) => event.input.command === "stop" ? { block: true, reason: "no", terminate: true } : { terminate: true });
  pi.on("turn_end", () => {});
  pi.on("tool_result", () => { pi.send("look", [{ type: "image", content: "aGk=", mimeType: "image/png" }]); });
}`)
	if d := s.must(m, s.bash("stop")); d.Verdict != event.Deny || d.Reason != "no" {
		t.Errorf("decided %+v, want a refusal", d)
	}
	s.must(m, s.claude("PostToolUse", map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}, "tool_response": "x",
	}))
	var said []string
	for _, l := range m.Info().Limits {
		if l.Agent == "claude" || l.Agent == "*" {
			said = append(said, l.Text)
		}
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"tool_call: terminate is left out", "turn_end: toolResults is empty",
		"send: attachments are left out"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not said; said is:\n%s", want, all)
		}
	}
}

func TestCheckSyntax(t *testing.T) {
	s := newHarness(t, nil)
	if err := CheckSyntax(s.file("good.ts", `export default function (pi: any) { pi.on("tool_call", () => {}); }`)); err != nil {
		t.Errorf("a sound file: %v", err)
	}
	err := CheckSyntax(s.file("bad.ts", "export default function (pi) {\n  pi.on('tool_call' (e) => 1);\n}"))
	if err == nil || !strings.Contains(err.Error(), "bad.ts:2:") {
		t.Errorf("%v, want the place of the mistake", err)
	}
}
