package replay

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// NeedsCounts reports whether rules ask how often something happened before. Then the calls have
// to be read in their order, with the events that begin and end sessions and turns.
func NeedsCounts(list []*rules.Rule) bool {
	return rules.NewSet(list, rules.Options{}).Needs().Has(facts.CountsFact)
}

// CountedKinds returns the kinds of events that counts come from.
func CountedKinds() []event.Kind {
	return []event.Kind{event.SessionStart, event.SessionEnd, event.TurnStart, event.ToolBefore, event.ToolAfter}
}

// Evaluates reports whether events of a kind are asked about.
func Evaluates(list []*rules.Rule, kind event.Kind) bool {
	return kind.Guarded() || slices.ContainsFunc(list, func(r *rules.Rule) bool { return r.Hears(kind) })
}

// maxTurns is how many turns are followed at the same time; fewer than a tracker holds.
const maxTurns = 128

// orderedCounts counts as the daemon did. It knows the counts of a turn only if it saw its
// beginning and in none of its calls text was redacted or cut: two different calls may look
// alike then.
type orderedCounts struct {
	catalogue *agent.Catalogue
	tracker   *facts.Tracker
	turns     bounded.Map[turnKey, bool] // that are known from their beginning
}

type turnKey struct{ agent, session string }

// observe applies a stored entry. It returns what happened before it, if that is known, and
// its kind.
func (o *orderedCounts) observe(entry []byte) (before facts.Counts, known bool, kind event.Kind) {
	call, err := readEntry(o.catalogue, entry)
	if err != nil {
		return before, false, "" // evaluating it reports that
	}
	ev := &call.event
	key := turnKey{ev.Agent, ev.Session}
	switch {
	case call.duplicate: // the daemon didn't count it
		return before, false, ev.Kind
	case ev.Kind == event.TurnStart || ev.Kind == event.SessionStart:
		o.turns.Delete(key)
		o.turns.Put(key, true, maxTurns)
	case ev.Kind == event.SessionEnd, isLossy(ev):
		o.turns.Delete(key)
	}
	if !o.turns.Has(key) {
		return before, false, ev.Kind
	}
	o.tracker.Observe(ev)
	before, known = o.tracker.Of(ev)
	return before, known, ev.Kind
}

// isLossy reports whether a call may look like others because some of its text is missing.
func isLossy(ev *event.Event) bool {
	if ev.Truncated || ev.Unreadable() != "" {
		return true
	}
	if ev.Tool == nil {
		return false
	}
	for _, text := range append([]string{string(ev.Tool.Input)}, ev.Tool.Commands...) {
		if strings.Contains(text, redactmarks.Head) || strings.Contains(text, redactmarks.CutHeadPlain) {
			return true
		}
	}
	return false
}
