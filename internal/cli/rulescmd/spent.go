package rulescmd

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/wire"
)

// told is what the daemon says about budgets: only it knows what was used. What it doesn't
// say is marked as in doubt, as when a hook can't reach it.
type told struct {
	budgets []wire.Budget
	windows []wire.UsageWindow
	session *wire.Session
	today   func() *wire.UsageReport // asked for once, if it's needed; nil if it isn't known
}

const notTold = "the daemon doesn't say what was used"

// askSpent asks the daemon what was used, for an event; nil if none runs. It also returns
// which budgets are lifted.
func askSpent(ctx context.Context, app *cmdutil.App, ev *event.Event) (budget.Spent, *budget.Lifts) {
	c, err := app.RunningDaemon()
	if err != nil {
		return nil, nil
	}
	t, lifts := &told{}, new(budget.Lifts)
	if c.Call(ctx, wire.MethodBudgets, nil, &t.budgets) != nil {
		return nil, nil
	}
	needsWindows := false
	for _, one := range t.budgets {
		b, err := budget.Parse(one.Text)
		if err != nil {
			continue
		}
		needsWindows = needsWindows || b.Period == budget.Window
		if one.Lifted {
			lifts.Lift(b, time.Now())
		}
	}
	if needsWindows {
		var limits wire.UsageLimits
		if c.Call(ctx, wire.MethodUsageLimits, nil, &limits) == nil {
			t.windows = limits.Windows
		}
	}
	if ev.Session != "" {
		if s, err := c.Session(ctx, ev.Session); err == nil {
			t.session = &s.Session
		}
	}
	t.today = sync.OnceValue(func() *wire.UsageReport {
		y, m, d := time.Now().Date()
		var today wire.UsageReport
		if c.Call(ctx, wire.MethodUsage, wire.UsageParams{Since: time.Date(y, m, d, 0, 0, 0, 0, time.Local)}, &today) != nil {
			return nil
		}
		return &today
	})
	return t, lifts
}

// Today implements [budget.Spent].
func (t *told) Today(agent, project string) budget.Spend {
	for _, one := range t.budgets {
		b, err := budget.Parse(one.Text)
		if err != nil || b.Period != budget.Day || b.Agent != agent || b.Project != project || one.CostUSD == nil || one.Tokens == nil {
			continue
		}
		return budget.Spend{Dollars: *one.CostUSD, Tokens: *one.Tokens, Doubt: one.Doubt}
	}
	if agent != "" || project != "" || t.today() == nil {
		return budget.Spend{Doubt: notTold}
	}
	sum := t.today().Totals
	return budget.Spend{Dollars: sum.CostUSD, Tokens: sum.Input + sum.Output + sum.CacheRead + sum.CacheCreation}
}

// InSession implements [budget.Spent]. A session that isn't there yet used nothing.
func (t *told) InSession(string, string) (s budget.Spend) {
	if t.session == nil || t.session.Usage == nil {
		return s
	}
	u := t.session.Usage
	s.Tokens, s.Unpriced = u.Tokens, u.UnpricedTokens
	if u.CostUSD != nil {
		s.Dollars = *u.CostUSD
	}
	return s
}

// OfWindow implements [budget.Spent].
func (t *told) OfWindow(agent string, length time.Duration) (float64, bool) {
	i := slices.IndexFunc(t.windows, func(w wire.UsageWindow) bool {
		have, err := budget.ParseWindow(w.Window)
		return err == nil && w.Agent == agent && have == length
	})
	if i < 0 {
		return 0, false
	}
	return t.windows[i].Used, true
}

// Known implements [budget.Spent].
func (t *told) Known(context.Context) bool { return t.today() != nil && t.today().Reading == nil }

// NoteEvent implements [budget.Spent]: nothing is made here.
func (t *told) NoteEvent(*event.Event) {}
