package sources

import (
	"context"
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/policy/shell"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// Examine returns what every guard and rule decides about an event, switched on or not, and
// what the active ones add up to. Nothing is run and you aren't asked.
func (s *Sources) Examine(ctx context.Context, ev *event.Event, o GuardOptions) *examine.Examination {
	out := &examine.Examination{Runs: []examine.Run{}, Findings: []examine.Finding{},
		Messages: []string{}}
	scripts := &shell.Cache{Programs: s.programsIn(&o)}
	out.Facts = facts.Collect(ev, o.Project, facts.Everything(), s.factOptions(&o, scripts))
	if t := ev.Tool; t != nil {
		for _, command := range t.Commands {
			explainRuns(out, command, scripts)
		}
		s.examineGuards(out, ev, &o, scripts)
	}
	s.examineRules(out, ev, &o, scripts)
	entries := s.Guards(o)
	hook.Sort(entries)
	decided := new(hook.Dispatcher).Decide(ctx, hook.Call{Event: ev, Project: o.Project, DryRun: true},
		hook.Select(entries, ev, nil)).Decision
	out.Verdict, out.By, out.Rule, out.Reason = decided.Verdict.Word(), decided.By, decided.Rule, decided.Reason
	return out
}

// explainRuns adds what a command line really runs.
func explainRuns(out *examine.Examination, command string, scripts *shell.Cache) {
	script := scripts.Parse(command)
	if out.Command == "" {
		out.Command = command
	}
	if script.Err != nil && out.Error == "" {
		out.Error = script.Err.Error()
	}
	for i := range script.Runs {
		r := &script.Runs[i]
		run := examine.Run{Program: r.Name(), Argv: []string{}, Via: r.Via, Remote: r.Remote, Contained: r.Contained}
		for _, a := range r.Argv {
			run.Argv = append(run.Argv, a.Text)
			if a.Dynamic {
				run.Dynamic = append(run.Dynamic, a.Text)
			}
		}
		for _, rd := range r.Redirects {
			run.Redirects = append(run.Redirects, rd.Op+rd.Target.Text)
		}
		for _, from := range facts.RunsIn(script, r.From) {
			run.PipedFrom = append(run.PipedFrom, from.Name())
		}
		out.Runs = append(out.Runs, run)
	}
}

// examineGuards adds what each built-in guard finds.
func (s *Sources) examineGuards(out *examine.Examination, ev *event.Event, o *GuardOptions,
	scripts *shell.Cache) {
	unpaused := *o
	unpaused.Resting = nil
	options := s.engineOptions(&unpaused, scripts)
	options.All = true
	engine, err := guards.New(options)
	if err != nil {
		return // Guards reports it
	}
	for _, f := range engine.Check(ev, o.Project) {
		verdict := "deny"
		if f.Ask {
			verdict = "ask"
		}
		out.Add(examine.Finding{
			Guard: f.Guard, Rule: f.Rule, Mode: string(f.Mode), Verdict: verdict, Reason: f.Reason, Where: f.Where,
			Paused: config.GuardStops(string(f.Mode)) && o.IsPaused(hook.GuardID(f.Guard)),
			Allowed: slices.ContainsFunc([]string{f.Rule, f.Guard, hook.GuardID(f.Guard)},
				func(name string) bool { return slices.Contains(options.Allow, name) }),
		})
	}
}

// examineRules adds what each of the user's rules decides, also of those that are off.
func (s *Sources) examineRules(out *examine.Examination, ev *event.Event, o *GuardOptions,
	scripts *shell.Cache) {
	base, here, start := s.RulesIn(o)
	_, allow := tighterGuard(o.Settings, config.GuardOwnFiles)
	states := RuleModes(o.Settings[0])
	all := map[string]rules.Mode{}
	for _, r := range slices.Concat(base.Rules, here.Rules, start.Rules) {
		all[r.ID] = rules.Block
	}
	places := s.newPlaces(o, rules.Options{Home: s.Dirs.Home, Modes: all}, scripts)
	resting := modesOf(o, slices.Concat(base.Rules, here.Rules, start.Rules))
	for _, h := range places.decide(ev) {
		r := h.Rule
		out.Add(examine.Finding{
			Rule: r.ID, Mode: string(r.ModeBy(states)), Verdict: string(h.Verdict), Reason: h.Why, Where: h.Where,
			Layer: string(r.Layer), File: r.File, Line: r.Line, Column: r.Column, Unsure: !h.Certain,
			Paused: r.ModeBy(resting) != r.ModeBy(states), Allowed: slices.Contains(allow, r.ID),
		})
	}
}

// LogOnlyRules returns the ids of the rules that only logs.
func (s *Sources) LogOnlyRules(o *GuardOptions) []string {
	base, here, start := s.RulesIn(o)
	list := slices.Concat(base.Rules, here.Rules, start.Rules)
	states := modesOf(o, list)
	var ids []string
	for _, r := range list {
		if r.ModeBy(states) == rules.LogOnly {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
