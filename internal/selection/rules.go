package selection

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// rulesAt returns the rules that count in a folder, whatever they are switched to.
func (r *edits) rulesAt(cwd string) []*rules.Rule {
	o := sources.GuardOptions{}
	if root := r.views.ProjectOf(cwd); root != "" {
		o.Trusted[0] = r.Trust.InForce(root)
	}
	base, here, _ := r.sources.RulesIn(&o)
	return slices.Concat(base.Rules, here.Rules)
}

// ruleProblems returns what is wrong with rules that would count in projects; everywhere
// says it of those that count everywhere.
func ruleProblems(r *Service, trusted [2]*trust.TrustedContent, everywhere bool) []userfile.Problem {
	base, here, start := r.sources.RulesIn(&sources.GuardOptions{Trusted: trusted})
	problems := slices.Concat(here.Problems, start.Problems)
	if everywhere {
		problems = slices.Concat(base.Problems, problems)
	}
	var list []userfile.Problem
	for _, p := range problems {
		text := p.Text
		switch {
		case p.Rule != "" && p.Used:
			text = "rule " + p.Rule + ": " + text
		case p.Rule != "":
			text = "rule " + p.Rule + " is not used: " + text
		}
		list = append(list, userfile.Problem{File: p.File, Line: p.Line, Col: p.Column, Text: text})
	}
	return list
}

// logOnlyRules lists the rules in log mode, with how often each would have
// matched. Of many only those are listed that would have.
func logOnlyRules(r *Service, would func(id string) uint64) []wire.LogOnlyHook {
	const most = 10
	v := r.viewOf(places{})
	var list []wire.LogOnlyHook
	for _, id := range r.sources.LogOnlyRules(guardOptions(r, v.settings, v.trusted, places{})) {
		list = append(list, wire.LogOnlyHook{Hook: hook.RuleID(id), Would: would(hook.RuleID(id))})
	}
	if len(list) > most {
		list = slices.DeleteFunc(list, func(m wire.LogOnlyHook) bool { return m.Would == 0 })
	}
	return list
}

// Examine says what every guard and rule thinks of an event, and what they are
// together. It leaves no trace.
func (r *Service) Examine(ev *event.Event) *examine.Examination {
	at := r.placesOf(ev)
	v := r.viewOf(at)
	return r.sources.Examine(r.Context, ev, *guardOptions(r, v.settings, v.trusted, at))
}

// findRule reports whether a rule is the administrator's, and whether there is
// one of this id at all.
func (r *edits) findRule(id string) (locked, known bool) {
	for _, one := range r.sources.Rules.Base().Rules {
		if one.ID == id {
			return one.Layer == rules.System, true
		}
	}
	for _, root := range r.Trust.Roots() {
		for _, one := range r.sources.Rules.Project(r.Trust.InForce(root)).Rules {
			if one.ID == id {
				return false, true
			}
		}
	}
	return false, false
}

// onlyTightens says why a new file of rules has to be looked at before it counts:
// a rule of it allows something.
func onlyTightens(file string, content []byte) error {
	list, problems := rules.Parse(rules.Source{Name: file, Data: content, Layer: rules.User})
	for _, p := range problems {
		return errors.New(p.String())
	}
	for _, one := range list {
		if one.MayAllow() {
			return fmt.Errorf("rule %s allows something; `hookmux config accept` shows the file and lets it count", one.ID)
		}
	}
	return nil
}
