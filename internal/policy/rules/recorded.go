package rules

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
)

// Losses says what is no longer known about a recorded call.
type Losses struct {
	// Facts were not recorded, or are in texts that were redacted or cut.
	Facts facts.Set
	// Text says that text of the call itself was redacted or cut.
	Text bool
	// Attended says that it wasn't recorded whether a user was present.
	Attended bool
	// Start says that it wasn't recorded where the session started.
	Start bool
}

// DecideRecorded compares the rules with a call that was recorded. Undecidable
// are rules whose verdict is unknown, because what they need was lost.
func (s *Set) DecideRecorded(f *facts.Facts, lost Losses) (result Result, undecidable []*Rule) {
	l := &losses{Losses: lost}
	result = s.decide(f, l)
	return result, l.open
}

// losses collects the rules that can't be decided. Nil: nothing was lost.
type losses struct {
	Losses
	open []*Rule
}

// textFacts are the facts derived from the text of a call.
var textFacts = facts.Set(0).With(facts.CommandsFact, facts.PathsFact, facts.NetFact, facts.FlowsFact)

// weaken returns how certainly an expression holds that may depend on text that was lost.
func (l *losses) weaken(r *Rule, holds certainty) certainty {
	if l != nil && (holds == no && l.Text && r.needs&textFacts != 0 || l.lacksAttended(r)) {
		return maybe
	}
	return holds
}

// lacksAttended reports whether the rule asks if a user is present and that isn't known.
func (l *losses) lacksAttended(r *Rule) bool {
	return l.Attended && (len(r.Match.Attended) > 0 || strings.Contains(r.When, "attended"))
}

// lookAgain notes a rule that may have missed a call only because of text that was lost:
// some fields can only be checked against the whole text.
func (l *losses) lookAgain(m *matcher, r *Rule) {
	q := &r.Match
	if l == nil || !l.Text || len(q.Env)+len(q.Text)+len(q.Statement)+len(q.Origin)+len(q.Effect) == 0 {
		return
	}
	without := *r
	without.Match.Env, without.Match.Text, without.Match.Statement, without.Match.Origin = nil, nil, nil, nil
	without.Match.Effect = nil
	if m.matchRule(&without).holds != no {
		l.note(r)
	}
}

// note adds a rule, once.
func (l *losses) note(r *Rule) {
	if !slices.Contains(l.open, r) {
		l.open = append(l.open, r)
	}
}

// leavesOpen notes a rule that may hold or not, because of what was lost.
func (l *losses) leavesOpen(r *Rule, holds certainty) bool {
	if l == nil || holds != maybe || r.needs&l.Facts == 0 && !l.lacksAttended(r) &&
		!(l.Start && len(r.Projects) > 0) {
		return false
	}
	l.note(r)
	return true
}

// leavesOpenClaude is leavesOpen for a rule in Claude Code's syntax: if text is missing, only
// what it denies is certain.
func (l *losses) leavesOpenClaude(r *Rule, hit Hit) bool {
	if l == nil || !l.Text || hit.Certain && hit.Verdict == Deny {
		return false
	}
	l.note(r)
	return true
}

// coversCall is covered for a recorded call: lost facts about git don't matter for what the
// call does.
func (l *losses) coversCall(f *facts.Facts, m *matcher, allows []allowed) bool {
	if l == nil {
		return covered(f, m, allows)
	}
	known := *f
	known.Unknown = slices.DeleteFunc(slices.Clone(f.Unknown), func(n facts.Name) bool {
		return l.Facts.Has(n) && !textFacts.Has(n)
	})
	if !l.Text && covered(&known, m, allows) {
		return true
	}
	if l.Text {
		for _, a := range allows {
			l.note(a.rule)
		}
	}
	return false
}
