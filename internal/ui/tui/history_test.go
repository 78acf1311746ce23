package tui

import (
	"strings"
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
	ended := noon.Add(-time.Hour)
	s.send(sessionsMsg{{ID: "s4", Agent: "codex", Status: "idle", Title: "old", Ended: &ended}})
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

// A history with nothing in it isn't open: what is answered later doesn't appear by itself, and
// the next h shows it.
func TestEmptyHistoryStaysHidden(t *testing.T) {
	s := newScreen(t, 80, 40)
	item := s.request("k1", nil)
	s.arrive(item)
	s.press("h")
	s.mustShow("There's no history yet")
	s.daemon.entries = journalOf("s4")
	s.end(item)
	if s.model.historyDue || strings.Contains(s.text(), "Answered") {
		t.Errorf("the history appears by itself:\n%s", s.text())
	}
	s.press("h")
	s.mustShow("Answered", "History: 1 answered")
	s.press("h")
	s.mustShow("History is hidden.")
}

// The history names the answer to a question and the title of a plan.
func TestHistoryNamesWhatWasDecided(t *testing.T) {
	plan := "Claude Code has a plan\nin /home/me/shop\n  # Move to the new database\n  \n  1. Copy it.\n"
	redis := event.Answer{Answers: []event.QuestionAnswer{{Options: []string{"Redis"}}}}
	for want, d := range map[string]decided{
		"answered: Redis": {Kind: "question", Verdict: "allow", Answer: redis,
			Shown: "Claude Code asks\nWhere?\n  1) In memory\n  2) Redis\n"},
		"accepted: Move to the new database":  {Kind: "plan", Verdict: "allow", Shown: plan},
		"sent back: Move to the new database": {Kind: "plan", Verdict: "deny", Shown: plan},
		"approved: $ make":                    {Kind: "permission", Verdict: "allow", Shown: "Claude Code wants to run\n  $ make\n"},
	} {
		if got := doingText(&row{decided: &d}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
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
