package approvals

import (
	"fmt"
	"testing"

	"github.com/hookmux/hookmux/event"
)

func shellCall(input string) *event.Event {
	return &event.Event{Agent: "claude", Session: "s", Kind: event.PermissionRequest, Cwd: "/p",
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"npm test"}, Input: []byte(input)}}
}

func TestAnswersServeOneCall(t *testing.T) {
	pre := &event.Event{Agent: "claude", Session: "s", Kind: event.ToolBefore,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, CallID: "1", Commands: []string{"ls"}}}
	ask := func(session, sub, command string) *event.Event {
		ev := &event.Event{Agent: "claude", Session: session, Kind: event.PermissionRequest, Tool: &event.Tool{
			Name: "Bash", Kind: event.Shell, Commands: []string{command},
			Input: []byte(`{"command":"` + command + `","description":"a comment"}`)}}
		if sub != "" {
			ev.Subagent = &event.Subagent{ID: sub}
		}
		return ev
	}
	yes := event.Decision{Verdict: event.Allow, By: "person"}
	var s Answers
	s.Store(pre, yes)
	for _, other := range []*event.Event{ask("s", "", "pwd"), ask("t", "", "ls"), ask("s", "sub", "ls")} {
		if _, ok := s.TakeOut(other); ok {
			t.Errorf("served another call: %+v", other)
		}
	}
	if d, ok := s.TakeOut(ask("s", "", "ls")); !ok || d.Verdict != event.Allow {
		t.Error("not served; want ok and d.Verdict == event.Allow")
	}
	if _, ok := s.TakeOut(ask("s", "", "ls")); ok {
		t.Error("served twice; want !ok")
	}
	// The same call begins anew: what was said about the first is over.
	s.Store(pre, yes)
	if _, ok := s.TakeOut(pre); ok {
		t.Error("an answer for the next call")
	}
	if _, ok := s.TakeOut(ask("s", "", "ls")); ok {
		t.Error("an answer for the next call")
	}
	// Also when nobody is asked at its beginning.
	s.Store(pre, yes)
	s.Observe(pre)
	if _, ok := s.TakeOut(ask("s", "", "ls")); ok {
		t.Error("an answer for the call after the next")
	}
	for _, kind := range []event.Kind{event.ToolAfter, event.TurnEnd, event.SessionEnd} {
		s.Store(pre, yes)
		over := *pre
		over.Kind = kind
		s.Observe(&over)
		if _, ok := s.TakeOut(ask("s", "", "ls")); ok {
			t.Error("still served after", kind)
		}
	}
	for i := range 3 * keepAnswers {
		s.Store(ask("s", "", fmt.Sprint(i)), yes)
	}
	if len(s.known) > keepAnswers || s.list.Len() > keepAnswers {
		t.Errorf("%d calls and %d answers are kept, want at most %d", len(s.known), s.list.Len(), keepAnswers)
	}
}

func TestAnAnswerServesOnlyTheSameWay(t *testing.T) {
	before := func(input string) *event.Event {
		ev := shellCall(input)
		ev.Kind = event.ToolBefore
		return ev
	}
	var s Answers
	s.Store(before(`{"command":"npm test","description":"x"}`), event.Decision{Verdict: event.Allow})
	if _, ok := s.TakeOut(shellCall(`{"command":"npm test","dangerouslyDisableSandbox":true}`)); ok {
		t.Error("served outside of the sandbox")
	}
	s.Store(before(`{"command":"npm test"}`), event.Decision{Verdict: event.Allow})
	if _, ok := s.TakeOut(shellCall(`{"command":"npm test","description":"x"}`)); !ok {
		t.Error("not served; want ok")
	}
}
