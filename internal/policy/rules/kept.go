package rules

import "github.com/hookmux/hookmux/internal/policy/facts"

// Kept is a rule that was read and checked before, with what its expression was found to need: the
// form in which the built-in ones load fast.
type Kept struct {
	*Rule
	Needs    facts.Set `json:"needs,omitempty"`
	Programs []string  `json:"programs,omitempty"`
	Each     bool      `json:"each,omitempty"`
}

// Keep returns a rule in the form in which it can be kept.
func Keep(r *Rule) Kept { return Kept{r, r.needs, r.programs, r.each} }

// Ready returns the rule as it was when it was kept.
func (k Kept) Ready() *Rule {
	r := k.Rule
	r.needs, r.programs, r.each = k.Needs, k.Programs, k.Each
	if names, ok := r.Match.Program.literals(); ok && r.Check == "" {
		r.named = names
	}
	if r.When != "" {
		r.when = &condition{text: r.When}
	}
	return r
}
