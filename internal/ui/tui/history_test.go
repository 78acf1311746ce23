package tui

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
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

// An answer stands where it was given, not where it was asked for.
func TestAnswersHaveTheirOwnTime(t *testing.T) {
	entry := func(after time.Duration, ev *event.Event, outcome *wire.Outcome) client.Entry {
		ev.Agent, ev.Time = "claude", noon.Add(after)
		return client.Entry{Event: []byte(toJSON(ev)), Outcome: outcome}
	}
	yes := []byte(toJSON(event.Decision{Verdict: event.Allow, By: event.ByUser}))
	var steps timeline
	for _, e := range []client.Entry{
		entry(0, &event.Event{Kind: event.PermissionRequest, Tool: &event.Tool{Name: "Bash", Commands: []string{"make"}}},
			&wire.Outcome{TookUS: (2 * time.Minute).Microseconds(), Decision: yes}),
		entry(time.Minute, &event.Event{Kind: event.ToolBefore, Tool: &event.Tool{Name: "Bash", Commands: []string{"ls"}}}, nil),
	} {
		steps.add(&e)
	}
	list := steps.about(&row{session: &wire.Session{}})
	if len(list) != 2 || !list[1].at.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("the steps are %+v, want the answer last, two minutes after it was asked for", list)
	}
}

// A line that an edit leaves as it is isn't both removed and added.
func TestEditSaysOnlyWhatChanged(t *testing.T) {
	for _, c := range []struct{ old, now, before, gone, fresh, after string }{
		{"pay()", "pay()\nwait()", "pay()", "", "wait()", ""},
		{"a\nb\nc", "a\nx\nc", "a", "b", "x", "c"},
		{"a\nb\nc", "c", "", "a\nb", "", "c"},
		{"a", "b", "", "a", "b", ""},
	} {
		before, gone, fresh, after := changedText(c.old, c.now)
		if before != c.before || gone != c.gone || fresh != c.fresh || after != c.after {
			t.Errorf("%q to %q: %q, -%q, +%q, %q", c.old, c.now, before, gone, fresh, after)
		}
	}
}
