package tshook

import (
	"context"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// A file that only logs evaluates, and reaches neither a person nor the agent.
func TestLogOnlyFileReachesNobody(t *testing.T) {
	s := newHarness(t, nil)
	s.answers = []Answer{{Confirmed: true}}
	logOnly := true
	m, err := s.engine.Load(context.Background(), Source{
		Path: s.file("m.ts", `export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    switch (event.input.command) {
      case "refused": return { block: true, reason: "not here" };
      case "asked": return (await ctx.ui.confirm("Delete?", "really")) ? undefined : { block: true, reason: "said no" };
      case "told": ctx.ui.notify("look"); pi.sendUserMessage("go on"); return;
    }
  });
}`), LogOnly: func() bool { return logOnly },
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := s.must(m, s.bash("refused")); d.Verdict != event.Deny || d.Reason != "not here" {
		t.Errorf("it evaluated %+v, want a refusal", d)
	}
	if d := s.must(m, s.bash("asked")); d.Verdict != event.Ask || d.Reason != "Delete?" {
		t.Errorf("it evaluated %+v, want the question it would have asked", d)
	}
	s.must(m, s.bash("told"))
	s.mu.Lock()
	if len(s.questions) > 0 || len(s.sent) > 0 || len(s.notices) > 0 {
		t.Errorf("it asked %v, sent %v, told %v", s.questions, s.sent, s.notices)
	}
	found := false
	for _, d := range s.actions {
		found = found || strings.Contains(d.Action, "would have sent")
	}
	s.mu.Unlock()
	if !found {
		t.Errorf("what it would have sent is not among what it did: %+v", s.actions)
	}
	logOnly = false
	if d := s.must(m, s.bash("asked")); d.Verdict != event.None {
		t.Errorf("the user said yes, and it evaluated %+v", d)
	}
}
