package sessions

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/services"
)

// A call that was refused and ran all the same is a problem; one that was let through,
// that failed, or that another agent reports isn't.
func TestARefusedCallThatRanIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		agent   string
		verdict event.Verdict
		kind    event.Kind
		failed  bool
		call    string
		want    bool
	}{
		"refused and ran":           {agent: "claude", verdict: event.Deny, call: "c1", want: true},
		"refused":                   {agent: "claude", verdict: event.Deny, call: "c1", failed: true},
		"let through":               {agent: "claude", verdict: event.None, call: "c1"},
		"another call ran":          {agent: "claude", verdict: event.Deny, call: "c2"},
		"a prompt was refused":      {agent: "claude", verdict: event.Deny, kind: event.TurnStart, call: "c1"},
		"no mods are known there":   {agent: "codex", verdict: event.Deny, call: "c1"},
		"an agent nobody knows ran": {agent: "nobody", verdict: event.Deny, call: "c1"},
	} {
		t.Run(name, func(t *testing.T) {
			deps := services.Deps{Catalogue: agent.Builtin(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
				Problems: services.NewProblems(nil)}
			w := liftWatch{deps: deps}
			kind := event.ToolBefore
			if c.kind != "" {
				kind = c.kind
			}
			w.decided(&event.Event{Agent: c.agent, Session: "s", Kind: kind, Tool: &event.Tool{CallID: "c1"}},
				&event.Decision{Verdict: c.verdict, By: "destructive.rm-broad"})
			w.happened(&event.Event{Agent: c.agent, Session: "s", Kind: event.ToolAfter,
				Tool: &event.Tool{CallID: c.call, Kind: event.Shell, Failed: c.failed}})
			all := deps.Problems.All()
			if (len(all) == 1) != c.want || c.want && !strings.Contains(all[0].What, "refused (destructive.rm-broad)") {
				t.Errorf("problems are %+v, want one: %v", all, c.want)
			}
		})
	}
}
