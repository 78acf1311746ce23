package tshook

import (
	"strings"
	"testing"
)

// A process that says more than a hook can take
// waits, and leaves the daemon and the file's other events alone.
func TestProcessesThatSayTooMuch(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("flood.ts", `import { spawn } from "node:child_process";
export default (hooks: any) => hooks.on("tool_call", async (event: any) => {
  if (event.input.command === "ls") return { block: true, reason: "fine" };
  let n = 0;
  const p = spawn("sh", ["-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"]);
  p.stdout.on("data", (d: any) => { n += d.length; });
  await new Promise((r) => setTimeout(r, 300));
  p.kill();
  return { block: true, reason: n > 0 ? "heard" : "nothing" };
});`)
	if d := s.must(m, s.bash("flood")); d.Reason != "heard" {
		t.Errorf(`d = %+v, s.troubles() = %s; want d.Reason = "heard"`, d, s.troubles())
	}
	if d := s.must(m, s.bash("ls")); d.Reason != "fine" {
		t.Errorf(`d = %+v, s.troubles() = %s; want d.Reason = "fine"`, d, s.troubles())
	}
	if strings.Contains(s.troubles(), "interrupted") {
		t.Errorf(`s.troubles() = %q, want no "interrupted" in it`, s.troubles())
	}
}
