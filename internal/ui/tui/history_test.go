package tui

import (
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/event"
)

// An answer given while the history is shown appears in it.
func TestHistoryIsReadAgainAfterAnAnswer(t *testing.T) {
	s := newScreen(t, 80, 40)
	item := s.request("k1", nil)
	s.arrive(item)
	s.press("h")
	if n := len(s.model.board.decided); n != 0 {
		t.Fatalf("%d answers before any was given", n)
	}
	s.daemon.entries = journalOf("s4")
	s.end(item)
	if !s.model.historyDue {
		t.Fatal("nothing plans to read the history again")
	}
	s.send(historyDueMsg{})
	if len(s.model.board.decided) == 0 || s.model.historyDue {
		t.Errorf("%d answers, due again: %v", len(s.model.board.decided), s.model.historyDue)
	}
}

func TestAnswerText(t *testing.T) {
	answered := &event.Answer{Answers: []event.QuestionAnswer{{Options: []string{"Redis"}}}}
	for want, d := range map[string]event.Decision{
		"✓ you approved make":            {By: event.ByUser, Verdict: event.Allow},
		"✓ you answered: Redis":          {By: event.ByUser, Verdict: event.Modify, Answer: answered},
		"✗ you denied make: not today":   {By: event.ByUser, Verdict: event.Deny, Reason: "not today"},
		"✓ you approved the plan":        {By: event.ByUser, Verdict: event.Allow, Answer: &event.Answer{Plan: "accept"}},
		"✗ you sent the plan back: more": {By: event.ByUser, Verdict: event.Deny, Reason: "more", Answer: &event.Answer{Plan: "reject"}},
		"":                               {By: "guard.destructive", Verdict: event.Deny},
	} {
		if got := ansi.Strip(answerText(&event.Event{}, "make", &d)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
