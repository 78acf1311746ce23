package text

import (
	"encoding/json"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// Only commands that would work are offered: without a rule there is no
// --always, and the agent's own rules have a flag of their own.
func TestWays(t *testing.T) {
	item := &wire.InboxRequest{ID: "kw4m", Choices: []string{"once", "always", "deny"}}
	for want, with := range map[string]func(){
		"hookmux approve kw4m · hookmux deny kw4m · hookmux skip kw4m":                               func() {},
		"hookmux approve kw4m · approve kw4m --always · hookmux deny kw4m · hookmux skip kw4m":       func() { item.Rule = "run exactly: make" },
		"hookmux approve kw4m · approve kw4m --suggestion N · hookmux deny kw4m · hookmux skip kw4m": func() { item.Suggestions = []json.RawMessage{json.RawMessage(`{}`)} },
	} {
		item.Rule, item.Suggestions = "", nil
		with()
		if got := Ways(item); got != want {
			t.Errorf("%q, not %q; want got == want", got, want)
		}
	}
}

// What was decided about a plan is said as the keys say it.
func TestDecidedPlan(t *testing.T) {
	for mode, want := range map[string]string{"accept": "plan accepted", "auto": "plan accepted, all edits allowed",
		"manual": "plan accepted, edits reviewed", "reject": "plan sent back"} {
		if got := DecidedWord(&wire.InboxDecision{Plan: mode}); got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}

// Each way to accept a plan has its flag, and a plan is sent back with feedback.
func TestWaysWithAPlan(t *testing.T) {
	item := &wire.InboxRequest{ID: "kw4m", Choices: []string{"accept", "auto", "manual", "reject"}}
	want := "hookmux approve kw4m · approve kw4m --auto-edit · approve kw4m --review-edits · hookmux deny kw4m FEEDBACK · " +
		"hookmux skip kw4m"
	if got := Ways(item); got != want {
		t.Errorf("Ways = %q, want %q", got, want)
	}
}

// With several questions it says how to answer each of them.
func TestWaysToAnswer(t *testing.T) {
	item := &wire.InboxRequest{ID: "kw4m", Choices: []string{"answer"}}
	for n, want := range map[int]string{
		1: "hookmux approve kw4m ANSWER · hookmux skip kw4m",
		2: "hookmux approve kw4m 1=ANSWER 2=ANSWER · hookmux skip kw4m",
	} {
		item.Questions = make([]event.Inquiry, n)
		if got := Ways(item); got != want {
			t.Errorf("%d questions: %q, want %q", n, got, want)
		}
	}
}

// What ended says what was said.
func TestEndedInWords(t *testing.T) {
	for want, d := range map[string]wire.InboxDecision{
		"denied by me: use staging": {Choice: "deny", By: "me", Outcome: "delivered", Reason: "use staging"},
		"answered by me: blue; round, flat": {Choice: "answer", By: "me", Outcome: "confirmed", Answers: []event.QuestionAnswer{
			{Options: []string{"blue"}}, {Options: []string{"round", "flat"}}}},
		"plan sent back by me: smaller": {Choice: "plan", Plan: "reject", By: "me", Outcome: "delivered", Reason: "smaller", Feedback: "smaller"},
		"approved by me":                {Choice: "once", By: "me", Outcome: "delivered"},
	} {
		if got := (Style{}).Ended(&wire.InboxRequest{Decision: &d}); got != want {
			t.Errorf("%q, not %q; want got == want", got, want)
		}
	}
}
