package wire

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// The methods about usage. Only the user may add, remove and lift a budget.
const (
	MethodUsage        = "usage.report"
	MethodUsageLimits  = "usage.limits"
	MethodUsageWindows = "usage.windows" // what an agent's status line says
	MethodBudgets      = "usage.budgets"
	MethodBudgetAdd    = "usage.budgets.add"
	MethodBudgetRemove = "usage.budgets.remove"
	MethodBudgetLift   = "usage.budgets.lift"
)

// What usage can be divided by.
const (
	ByAgent   = "agent"
	ByModel   = "model"
	ByProject = "project"
	BySession = "session"
	ByDay     = "day"
)

// UsageGroups returns what usage can be divided by.
func UsageGroups() []string { return []string{ByAgent, ByModel, ByProject, BySession, ByDay} }

// UsageParams asks for usage.
type UsageParams struct {
	By    []string  `json:"by,omitempty"`
	Since time.Time `json:"since,omitzero"` // zero: since the first record
}

// UsageTokens holds the tokens used. Each token is in only one of its fields.
type UsageTokens struct {
	Input         int64 `json:"inputTokens"`
	Output        int64 `json:"outputTokens"`
	CacheRead     int64 `json:"cacheReadTokens"`
	CacheCreation int64 `json:"cacheCreationTokens"`
}

// Add adds o.
func (t *UsageTokens) Add(o UsageTokens) {
	t.Input += o.Input
	t.Output += o.Output
	t.CacheRead += o.CacheRead
	t.CacheCreation += o.CacheCreation
}

// Total returns all of them.
func (t *UsageTokens) Total() int64 { return t.Input + t.Output + t.CacheRead + t.CacheCreation }

// UsageGroup names what a row is about.
type UsageGroup struct {
	Agent   string `json:"agent,omitempty"`
	Model   string `json:"model,omitempty"`
	Project string `json:"project,omitempty"`
	Session string `json:"session,omitempty"`
	Day     string `json:"day,omitempty"`
}

// UsageRow is the use of one group.
type UsageRow struct {
	UsageGroup
	UsageTokens
	// CostUSD is null if no model of the group has a price.
	CostUSD        *float64 `json:"costUSD"`
	UnpricedTokens int64    `json:"unpricedTokens,omitempty"`
}

// UsageTotals is everything.
type UsageTotals struct {
	UsageTokens
	CostUSD        float64 `json:"costUSD"`
	UnpricedTokens int64   `json:"unpricedTokens,omitempty"`
}

// UsageReport reports usage.
type UsageReport struct {
	Totals   UsageTotals `json:"totals"`
	Rows     []UsageRow  `json:"rows"`
	Unpriced []string    `json:"unpriced"` // models without a price
	Prices   string      `json:"prices"`   // the date of the table
	// Reading is how much of the records has been read, while that is going on.
	Reading *UsageReading `json:"reading,omitempty"`
	// Problem says why nothing is counted right now; "" if it is.
	Problem string `json:"problem,omitempty"`
}

// UsageReading is how far the records of agents are read.
type UsageReading struct {
	Files int   `json:"files"`
	Of    int   `json:"of"`
	Bytes int64 `json:"bytes"`
}

// UsageWindow is how much of a window of a plan is used.
type UsageWindow struct {
	Agent   string     `json:"agent"`
	Window  string     `json:"window"`
	Used    float64    `json:"usedPercent"`
	Resets  *time.Time `json:"resets"` // null if unknown
	Plan    string     `json:"plan,omitempty"`
	Learned time.Time  `json:"learned"`
}

// UsageLimits are the windows that are known.
type UsageLimits struct {
	Windows []UsageWindow `json:"windows"`
	Unknown []string      `json:"unknown"` // agents with plans of whose windows nothing is known
}

// UsageWindowsParams are sent to a status line.
type UsageWindowsParams struct {
	Agent   string        `json:"agent"`
	Session string        `json:"session,omitempty"`
	Windows []UsageWindow `json:"windows,omitempty"`
	// Context is how many tokens are in the session's context, Size how many fit.
	Context int64 `json:"context,omitempty"`
	Size    int64 `json:"size,omitempty"`
}

// BudgetParams names a budget, or is the text of a new one.
type BudgetParams struct {
	Budget string `json:"budget"`
}

// Budget is one budget and how far it is used up.
type Budget struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Percent *float64 `json:"percent"` // null if it isn't known, or each session has its own
	CostUSD *float64 `json:"costUSD,omitempty"`
	Tokens  *int64   `json:"tokens,omitempty"`
	Lifted  bool     `json:"lifted,omitempty"`
	// Project is the folder it's for, Session the one it was checked for, if any.
	Project string `json:"project,omitempty"`
	Session string `json:"session,omitempty"`
	// Doubt says why more may have been used.
	Doubt   string `json:"doubt,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// SessionUsage is how much a session used.
type SessionUsage struct {
	CostUSD        *float64 `json:"costUSD"` // list price; null if no model has a price
	Tokens         int64    `json:"tokens"`
	UnpricedTokens int64    `json:"unpricedTokens,omitempty"`
	// ContextLeft is how many percent of the context window are left; null if unknown.
	ContextLeft *float64 `json:"contextLeft,omitempty"`
	// Plan says that a plan pays: the cost is the list price.
	Plan bool `json:"plan,omitempty"`
}

// RoundUSD rounds an amount to a millionth of a dollar: sums of many calls have noise after that.
func RoundUSD(cost float64) float64 { return math.Round(cost*1e6) / 1e6 }

// Dollars returns an amount of money.
func Dollars(cost float64) string {
	switch {
	case cost > 0 && cost < 0.005:
		return "<$0.01"
	case cost >= 10000:
		return fmt.Sprintf("$%.0f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// Count returns a number of tokens, short.
func Count(n int64) string {
	for _, unit := range []struct {
		from float64
		sign string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if f := float64(n); f >= unit.from {
			return fmt.Sprintf("%.1f%s", f/unit.from, unit.sign)
		}
	}
	return strconv.FormatInt(n, 10)
}

// Short returns what a session used, in a few characters: its cost, at list price if a plan pays, or
// its tokens if nothing has a price; "" if nothing is known.
func (u *SessionUsage) Short() string {
	if u == nil {
		return ""
	}
	if u.CostUSD == nil {
		return Count(u.Tokens) + " tok"
	}
	cost := Dollars(*u.CostUSD)
	if u.UnpricedTokens > 0 {
		cost = ">" + cost
	}
	if u.Plan {
		cost += " list price"
	}
	return cost
}

// Cell returns what a table shows: the cost, the tokens, and what is left of the context.
func (u *SessionUsage) Cell() string {
	cell := u.Short()
	if u != nil && u.CostUSD != nil {
		cell += ", " + Count(u.Tokens) + " tok"
	}
	if left := u.Left(); left != "" {
		cell += ", " + left + " left"
	}
	return cell
}

// Left returns how much of the context is left, "" if unknown.
func (u *SessionUsage) Left() string {
	if u == nil || u.ContextLeft == nil {
		return ""
	}
	return fmt.Sprintf("%.0f%%", *u.ContextLeft)
}
