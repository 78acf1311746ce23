package sources

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// BudgetHook is the built-in hook of budgets.
const BudgetHook = hook.GuardPrefix + "budget"

// budgetEntries makes the budgets of settings into a hook; none where there are none.
func budgetEntries(o *GuardOptions) []*hook.Entry {
	if o.Settings[0] == nil {
		return nil
	}
	list := budget.ParseAll(o.Settings[0].Strings(config.UsageBudgets))
	if len(list) == 0 {
		return nil
	}
	run := hook.HandlerFunc(func(ctx context.Context, call *hook.Call) (event.Decision, error) {
		if o.Spent != nil && !call.DryRun {
			o.Spent.NoteEvent(call.Event)
		}
		return checkBudgets(ctx, o, list, call), nil
	})
	priority := GuardPriority
	var entries []*hook.Entry
	// An agent that was told to ask comes back with its own request: a saved permission doesn't
	// answer what a budget asks, and your yes is used for the next calls.
	for _, kind := range []event.Kind{event.TurnStart, event.ToolBefore, event.PermissionRequest} {
		e, err := hook.NewEntry(hook.Registration{
			ID: BudgetHook, Agent: hook.Any, HookType: string(kind), Handler: "builtin", Target: BudgetHook,
			Role: hook.Guard, Priority: &priority, Locked: true,
		}, run, "builtin")
		if err == nil {
			e.BuiltinGuard = true
			entries = append(entries, e)
		}
	}
	return entries
}

// checkBudgets returns what the strictest budget says about an event. Before a turn a
// budget only blocks: what it asks, it asks before the first call.
func checkBudgets(ctx context.Context, o *GuardOptions, list []*budget.Budget, call *hook.Call) event.Decision {
	ev := call.Event
	var said event.Decision
	for _, b := range list {
		if !covers(b, ev, o) {
			continue
		}
		f, found := b.Check(ctx, ev, o.Spent)
		if !found || f.Verdict == event.Ask && (ev.Kind == event.TurnStart || said.Verdict == event.Ask) {
			continue
		}
		if o.Lifts != nil && o.Lifts.Passes(&f, ev, time.Now(), call.DryRun) {
			continue
		}
		said = event.Decision{Verdict: f.Verdict, Reason: event.OneLine(f.Reason), Rule: b.Rule()}
		if f.Verdict == event.Deny {
			break
		}
	}
	return said
}

// covers reports whether a budget is about an event, also where its session moved to another
// folder.
func covers(b *budget.Budget, ev *event.Event, o *GuardOptions) bool {
	if covered := b.Covers(ev); covered || b.Project == "" || o.Started == nil {
		return covered
	}
	there := *ev
	var err error
	there.Cwd, err = o.Started(ev)
	return err == nil && b.Covers(&there)
}

// usageFacts returns what rules see of what was used; nil if it isn't known.
func usageFacts(spent budget.Spent) func(ev *event.Event) (facts.Usage, bool) {
	if spent == nil {
		return nil
	}
	amount := func(s budget.Spend) facts.Amount {
		return facts.Amount{USD: s.Dollars, Tokens: int(s.Tokens), Unpriced: int(s.Unpriced)}
	}
	return func(ev *event.Event) (facts.Usage, bool) {
		return facts.Usage{Session: amount(spent.InSession(ev.Agent, ev.Session)), Today: amount(spent.Today("", ""))},
			spent.Known(context.Background())
	}
}
