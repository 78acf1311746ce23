package tshook

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/await"
)

const inNode = `/**
 * A hook that needs all of Node.
 * runtime: node
 */
import zlib from "node:zlib";
import { Type } from "@sinclair/typebox";
import type { HookAPI } from "hookmux";
type Unused = string;
export default function (h: HookAPI) {
  let n = 0;
  h.on("tool_call", async (event, ctx) => {
    const packed = zlib.gzipSync(event.input.command);
    if (event.input.command === "loop") for (;;) {}
    if (event.input.command === "throw") throw new Error("from " + Type.String().type);
    if (event.input.command === "ls") event.input.command = "ls -l";
    else if (!(await ctx.ui.confirm("ok?", zlib.gunzipSync(packed).toString()))) return { block: true, reason: "no, " + ++n + " " + (await ctx.exec("echo", ["hi"])).stdout.trim() };
  });
}
`

func TestNode(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here")
	}
	s := newHarness(t, nil)
	m := s.load("node.ts", inNode)
	if m.Info().Runtime != "node" {
		t.Fatalf(`m.Info() = %+v, want m.Info().Runtime = "node"`, m.Info())
	}
	s.answers = []Answer{{Confirmed: false}, {Confirmed: true}}
	if d := s.must(m, s.bash("x")); d.Verdict != event.Deny || d.Reason != "no, 1 hi" || s.questions[0].Text != "x" {
		t.Errorf(`d = %+v, want d.Verdict = event.Deny, d.Reason = "no, 1 hi" and s.questions[0].Text = "x"`, d)
	}
	if d := s.must(m, s.bash("y")); d.Verdict != event.None {
		t.Errorf("d = %+v, want d.Verdict = event.None", d)
	}
	if d := s.must(m, s.bash("ls")); string(d.Input) != `{"command":"ls -l"}` {
		t.Errorf(`d = %+v, want string(d.Input) = {"command":"ls -l"}`, d)
	}
	if _, err := s.handle(m, s.bash("throw")); err == nil || err.Error() != "node.ts: from string" ||
		!strings.Contains(s.troubles(), "node.ts:14:") {
		t.Errorf(`%v, told %q; want an error, err.Error() == "node.ts: from string" and "node.ts:14:" in `+
			`s.troubles()`, err, s.troubles())
	}
	if _, err := s.within(m, s.bash("loop"), 500*time.Millisecond); err == nil {
		t.Error("a loop came to an end")
	}
	await.Until(t, "the process of the loop ends", func() bool { return m.current.runner.Why() != nil })
	s.answers = []Answer{{Confirmed: true}}
	if d := s.must(m, s.bash("z")); d.Verdict != event.None {
		t.Errorf("d = %+v, want d.Verdict = event.None", d)
	}
}

func TestNoNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := newHarness(t, nil)
	_, err := s.engine.Load(t.Context(), Source{Path: s.file("node.ts", inNode)})
	if err == nil || !strings.Contains(err.Error(), "node is not on PATH") {
		t.Errorf(`error %v, want an error and "node is not on PATH" in err.Error()`, err)
	}
}
