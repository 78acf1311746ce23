package sources

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/budget"
)

// spent is a [budget.Spent] with the same answer to everything.
type spent struct{ dollars float64 }

func (s spent) Today(string, string) budget.Spend     { return budget.Spend{Dollars: s.dollars, Tokens: 1} }
func (s spent) InSession(string, string) budget.Spend { return s.Today("", "") }
func (s spent) OfWindow(string, time.Duration) (float64, bool) {
	return 0, false
}
func (s spent) Known(context.Context) bool { return true }
func (s spent) NoteEvent(*event.Event)     {}

func TestBudgetsDecide(t *testing.T) {
	list := budget.ParseAll([]string{"day=10usd ask=80% block=100%", "day=20usd agent=codex block=100%"})
	for _, one := range []struct {
		kind    event.Kind
		agent   string
		dollars float64
		want    event.Verdict
	}{
		{event.ToolBefore, "claude", 1, event.None}, {event.ToolBefore, "claude", 8, event.Ask},
		{event.PermissionRequest, "claude", 8, event.Ask}, {event.PermissionRequest, "claude", 1, event.None},
		{event.ToolBefore, "claude", 10, event.Deny}, {event.TurnStart, "claude", 8, event.None},
		{event.TurnStart, "claude", 10, event.Deny},
	} {
		o := &GuardOptions{Spent: spent{one.dollars}, Lifts: new(budget.Lifts)}
		ev := &event.Event{ID: "e", Kind: one.kind, Agent: one.agent, Session: "s"}
		d := checkBudgets(t.Context(), o, list, &hook.Call{Event: ev})
		if d.Verdict != one.want && !(one.want == event.None && d.Verdict == "") {
			t.Errorf("%+v: got %+v", one, d)
		}
		if one.want == event.Deny && (d.Reason == "" || d.Rule != "budget/day-10usd") {
			t.Errorf("%+v: got %+v", one, d)
		}
	}
	o := &GuardOptions{Spent: spent{10}, Lifts: new(budget.Lifts)}
	o.Lifts.Lift(list[0], time.Now())
	if d := checkBudgets(t.Context(), o, list, &hook.Call{Event: &event.Event{ID: "e", Kind: event.ToolBefore, Agent: "claude"}}); d.Verdict != event.None && d.Verdict != "" {
		t.Errorf("lifted: %+v", d)
	}
	// A session stays within the budget of the project that it started in.
	project := budget.ParseAll([]string{"session=1usd project=/p block=100%"})
	for started, want := range map[string]event.Verdict{"/p/sub": event.Deny, "/q": event.None} {
		o := &GuardOptions{Spent: spent{10}, Started: func(*event.Event) (string, error) { return started, nil }}
		ev := &event.Event{ID: "e", Kind: event.ToolBefore, Agent: "claude", Session: "s", Cwd: "/elsewhere"}
		if d := checkBudgets(t.Context(), o, project, &hook.Call{Event: ev}); d.Verdict != want && !(want == event.None && d.Verdict == "") {
			t.Errorf("started in %s: %+v", started, d)
		}
	}
	// Without a daemon nobody knows what was used.
	if d := checkBudgets(t.Context(), &GuardOptions{}, list, &hook.Call{Event: &event.Event{Kind: event.ToolBefore, Agent: "claude"}}); d.Verdict != event.Ask {
		t.Errorf("without a daemon: %+v", d)
	}
}

func TestRulesSeeUsage(t *testing.T) {
	s := live(t)
	writeFile(t, s.Dirs.Config+"/rules/mine.yaml", `version: 1
rules:
  - id: dear
    why: this session is expensive
    match: {program: make}
    when: usage.session.usd > 3
    decide: deny
    examples:
      hit: [{command: make all, usd: 4}]
      miss: [{command: make all, usd: 1}]
`)
	for dollars, want := range map[float64]event.Verdict{1: event.None, 4: event.Deny} {
		if got := decideBy(s, GuardOptions{Spent: spent{dollars}}, shellEvent(s.Dirs.Home, "make all")); got.Verdict != want {
			t.Errorf("with %v dollars: %+v, want %v", dollars, got, want)
		}
	}
	if got := decideBy(s, GuardOptions{}, shellEvent(s.Dirs.Home, "make all")); got.Verdict != event.Ask {
		t.Errorf("without a daemon: %+v", got)
	}
}

// A budget in the settings is in force at once, also one that nobody accepted.
func TestBudgetsOfSettings(t *testing.T) {
	s := live(t)
	writeFile(t, s.Dirs.Config+"/config.json", `{"usage.budgets": ["day=10usd block=100%"]}`)
	ev := shellEvent(s.Dirs.Home, "ls")
	if got := decideBy(s, GuardOptions{Spent: spent{9}}, ev); got.Verdict != event.None {
		t.Errorf("within: %+v", got)
	}
	if got := decideBy(s, GuardOptions{Spent: spent{10}}, ev); got.Verdict != event.Deny || got.Rule != "budget/day-10usd" {
		t.Errorf("beyond: %+v", got)
	}
	// What an agent asks itself, too: a permission that you saved doesn't answer for the budget.
	ev.Kind = event.PermissionRequest
	if got := decideBy(s, GuardOptions{Spent: spent{10}}, ev); got.Verdict != event.Deny || got.Rule != "budget/day-10usd" {
		t.Errorf("the agent's own request: %+v", got)
	}
}
