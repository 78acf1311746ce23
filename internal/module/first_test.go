package module

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

func TestFirst(t *testing.T) {
	s := newStage(t, nil)
	m := s.load("gate.ts", `
import type { HookAPI } from "hookmux";
const bad: RegExp[] = [/\bshred\b/, /\bmkfs\b/];
export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event, ctx) => {
    console.log("saw", event.toolName, event.input, event.native);
    if (event.toolName === "bash" && bad.some((b) => b.test(event.input.command)))
      return { block: true, reason: "no " + event.input.command };
    if (event.input.command === "ls") event.input.command = "ls -l";
  });
}
`)
	t.Logf("%+v", m.Info())
	d := s.must(m, s.bash("shred x"))
	if d.Verdict != event.Deny || d.Reason != "no shred x" {
		t.Errorf("%+v", d)
	}
	d = s.must(m, s.bash("ls"))
	if d.Verdict != event.Modify || string(d.Input) != `{"command":"ls -l"}` {
		t.Errorf("%+v %s", d, d.Input)
	}
	t.Log(s.said())
	t.Log(s.troubles())
}
