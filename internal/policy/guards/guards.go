// Package guards builds the built-in guards from their rules and asks them about calls. A
// guard is a named selection of rules: those of its file in internal/policy/packs, and rules
// of other files that it includes. All guards that are on make one set of rules, which the
// evaluator that compares your own rules compares with a call ([rules.Set]).
//
// Contract: an Engine is pure. It opens no file and asks no one; what it knows about the
// machine comes with its Options. It never panics, and its cost is bounded by the limits of
// internal/policy/shell. A command that hides what it does (too long, nested too deeply, not
// text) is a finding; one that no shell can read either is one only if its text names
// something that a guard watches.
package guards

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/checks/destructive"
	"github.com/hookmux/hookmux/internal/policy/checks/ownfiles"
	"github.com/hookmux/hookmux/internal/policy/checks/secrets"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/packs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Finding is one thing a guard blocks.
type Finding struct {
	Guard  string `json:"guard"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"` // one line: what and why
	Where  string `json:"where"`  // the piece of the command, or the path
	// Mode is the rule's mode: its own, or that of its guard.
	Mode rules.Mode `json:"mode"`
	// Ask says that you are asked about it instead of it being denied.
	Ask bool `json:"ask,omitempty"`
	// LogOnly says that it is only recorded.
	LogOnly bool `json:"logOnly,omitempty"`
	// Unreadable says that the guard blocks the text itself, because it can't be read in full.
	Unreadable bool `json:"-"`
}

// Message returns the one line an agent or a user reads when f denies a call.
func Message(f Finding) string { return event.RuleDenial(f.Rule, f.Reason, f.Where) }

// Options say which guards are on, and what they know.
type Options struct {
	// Modes are the modes of guards. One that isn't in it is off.
	Modes map[string]rules.Mode
	// Rules are the modes of single rules, which take precedence over those of their guards.
	Rules map[string]rules.Mode
	// All also evaluates rules that are off, only log or have an exception, as if they blocked.
	All bool
	// Allow lists what is always allowed: a guard's name, a rule id, or
	// "rule:exact command" for one command only.
	Allow []string
	// Hosts are the hosts that the network guard leaves alone. Without any it only knows hosts
	// that accept anything from anyone.
	Hosts   []string
	Machine facts.Machine
	Home    string
	// Scripts is the parser for commands; nil: the engine makes its own.
	Scripts *shell.Cache
	// Git reads a repository, Counts returns what happened before in a session; nil: nothing is
	// known.
	Git    func(dir string) facts.Repository
	Counts func(ev *event.Event) (facts.Counts, bool)
}

// Info describes one guard.
type Info struct {
	Name      string           `json:"name"`
	What      string           `json:"what"`
	DefaultOn bool             `json:"defaultOn"`
	Rules     []packs.RuleInfo `json:"rules"`
}

// List describes every guard, in the order they run.
func List() []Info {
	var list []Info
	for _, g := range names.All() {
		list = append(list, Info{g.Name, g.What, g.DefaultOn, packs.Describe(g.Name)})
	}
	return list
}

// Engine compares the rules of the guards that are on with calls.
type Engine struct {
	options Options
	guards  []*packs.Pack // those that are on
	checks  map[string]rules.Checks
	// owner is the guard that a rule belongs to, modes the mode of each rule.
	owner map[string]string
	modes map[string]rules.Mode
	calls *rules.Set
	// repeats are the rules about what happened before. They look at a call as a whole and are
	// compared only if something happened repeatedly.
	repeats *rules.Set

	mu   sync.Mutex
	last struct {
		event    *event.Event
		findings []Finding
	}
}

// New builds the guards that are on.
func New(o Options) (*Engine, error) {
	if o.Scripts == nil {
		o.Scripts = new(shell.Cache)
	}
	e := &Engine{options: o, owner: map[string]string{}, modes: map[string]rules.Mode{}}
	var list, repeats []*rules.Rule
	for _, g := range names.All() {
		mode, known := o.Modes[g.Name]
		if !known {
			mode = rules.Off
		}
		if !o.All && (mode == rules.Off && !e.hasRuleOf(g.Name) ||
			slices.Contains(o.Allow, g.Name) || slices.Contains(o.Allow, hook.GuardID(g.Name))) {
			continue
		}
		pack, err := packs.Load(g.Name)
		if err != nil {
			return nil, err
		}
		e.guards = append(e.guards, pack)
		for _, r := range packs.ExceptHosts(pack.Rules, o.Hosts) {
			own, known := e.modes[r.ID]
			if known && rules.Tighter(own, mode) == own {
				continue
			}
			e.modes[r.ID], e.owner[r.ID] = mode, g.Name
			switch {
			case known:
			case r.Needs().Has(facts.CountsFact):
				repeats = append(repeats, r)
			default:
				list = append(list, r)
			}
		}
	}
	for id, mode := range o.Rules {
		if _, known := e.modes[id]; known {
			e.modes[id] = mode
		}
	}
	modes := maps.Clone(e.modes)
	for id := range modes {
		switch {
		case o.All:
			modes[id] = rules.Block
		case slices.Contains(o.Allow, id):
			modes[id] = rules.Off
		}
	}
	e.checks = e.makeChecks()
	options := rules.Options{Home: o.Home, Modes: modes, Checks: e.checks, Excepted: e.excepted()}
	e.calls, e.repeats = rules.NewSet(list, options), rules.NewSet(repeats, options)
	return e, nil
}

// hasRuleOf reports whether a rule of a guard's own file has a mode of its own.
func (e *Engine) hasRuleOf(guard string) bool {
	for id, mode := range e.options.Rules {
		if strings.HasPrefix(id, guard+".") && mode != rules.Off {
			return true
		}
	}
	return false
}

// makeChecks makes the checks in Go that rules of the guards name.
func (e *Engine) makeChecks() map[string]rules.Checks {
	made := map[string]rules.Checks{}
	for _, g := range e.guards {
		for _, family := range g.Families() {
			if made[family] == nil && families[family] != nil {
				made[family] = families[family](e.options.Machine)
			}
		}
	}
	return made
}

// families are the families of checks in Go. Those with other names have only what every family
// has.
var families = map[string]func(facts.Machine) rules.Checks{
	"destructive": func(facts.Machine) rules.Checks { return destructive.New() },
	"secrets":     func(m facts.Machine) rules.Checks { return secrets.New(m) },
	"own-files":   func(m facts.Machine) rules.Checks { return ownfiles.New(m) },
}

// Checks makes all families of checks.
func Checks(m facts.Machine) map[string]rules.Checks {
	made := map[string]rules.Checks{}
	for family, create := range families {
		made[family] = create(m)
	}
	return made
}

// Rules returns the rules of every guard, with the hosts that the network guard leaves alone.
func Rules(hosts []string) ([]*rules.Rule, error) {
	var list []*rules.Rule
	for _, g := range names.All() {
		pack, err := packs.Load(g.Name)
		if err != nil {
			return nil, err
		}
		for _, r := range packs.ExceptHosts(pack.Rules, hosts) {
			if !slices.ContainsFunc(list, func(known *rules.Rule) bool { return known.ID == r.ID }) {
				list = append(list, r)
			}
		}
	}
	return list, nil
}

// excepted returns a function that reports which rules don't apply to which commands; nil if
// you allowed no single command.
func (e *Engine) excepted() func(rule, line string) bool {
	var exact []string
	if e.options.All {
		return nil
	}
	for _, entry := range e.options.Allow {
		if strings.Contains(entry, ":") {
			exact = append(exact, entry)
		}
	}
	if len(exact) == 0 {
		return nil
	}
	return func(rule, line string) bool { return slices.Contains(exact, rule+":"+line) }
}

// IsOn reports whether a rule of a guard may block anything, and whether one does more than log.
func (e *Engine) IsOn(guard string) (on, stops bool) {
	stops = e.has(guard, func(m rules.Mode) bool { return m != rules.LogOnly })
	return stops || e.Logs(guard), stops
}

// Logs reports whether a rule of a guard only logs.
func (e *Engine) Logs(guard string) bool {
	return e.has(guard, func(m rules.Mode) bool { return m == rules.LogOnly })
}

func (e *Engine) has(guard string, isLike func(rules.Mode) bool) bool {
	return slices.ContainsFunc([]*rules.Set{e.calls, e.repeats}, func(set *rules.Set) bool {
		return slices.ContainsFunc(set.Rules(), func(r *rules.Rule) bool {
			return e.owner[r.ID] == guard && isLike(set.ModeOf(r))
		})
	})
}

// Check returns what the guards find in a call, in their order; nothing means no opinion. Findings
// about one event are computed once.
func (e *Engine) Check(ev *event.Event, project string) []Finding {
	e.mu.Lock()
	if e.last.event == ev {
		defer e.mu.Unlock()
		return e.last.findings
	}
	e.mu.Unlock()
	found := e.check(ev, project)
	e.mu.Lock()
	e.last.event, e.last.findings = ev, found
	e.mu.Unlock()
	return found
}

func (e *Engine) check(ev *event.Event, project string) []Finding {
	if ev.Tool == nil {
		return nil
	}
	asked := *ev
	asked.Kind = event.ToolBefore // whatever asks, it is about this call
	var hits []rules.Hit
	if e.calls.Len() > 0 {
		f := facts.Collect(&asked, project, e.calls.Needs(), e.factOptions(asked.Cwd))
		hits = e.calls.Decide(f).Hits
	}
	if e.repeats.Len() > 0 && e.repeated(ev) {
		f := facts.Collect(&asked, project, e.repeats.Needs(), e.factOptions(""))
		hits = append(hits, e.repeats.Decide(f).Hits...)
	}
	return e.findings(hits)
}

func (e *Engine) factOptions(folder string) facts.Options {
	o := facts.Options{Home: e.options.Home, Parse: e.options.Scripts.Parse, Resolve: e.options.Machine.Resolve,
		Disk: e.options.Machine.Disk,
		Git:  e.options.Git, Counts: e.options.Counts}
	if folder != "" {
		o.Skip = func(line string) bool {
			return !e.mustParse(line, folder) && (o.Disk == nil || !facts.HasPattern(line))
		}
	}
	return o
}

// mustParse reports whether a command line may be one for the guards: a cheap look at its
// text.
func (e *Engine) mustParse(line, folder string) bool {
	if shell.IsTooLong(line) || strings.IndexByte(line, 0) >= 0 || e.options.Scripts.Programs.MentionedIn(line) {
		return true
	}
	for _, c := range e.checks {
		if c.MustParse(line) || c.WatchesFolder(folder) {
			return true
		}
	}
	return slices.ContainsFunc(e.guards, func(p *packs.Pack) bool { return p.Needles == nil || p.Needles.MustParse(line) })
}

// repeated reports whether anything happened so often that rules about it are worth a look. If
// nothing is counted, it didn't.
func (e *Engine) repeated(ev *event.Event) bool {
	if e.options.Counts == nil {
		return false
	}
	n, ok := e.options.Counts(ev)
	return ok && max(n.SameCall, n.SameFailure, n.Alternating) > 2
}

// findings returns the hits in the order of the guards. That a text can't be read is only
// reported if a guard knows nothing else about it.
func (e *Engine) findings(hits []rules.Hit) []Finding {
	var out []Finding
	for _, g := range e.guards {
		found := len(out)
		for _, unreadable := range []bool{false, true} {
			if unreadable && len(out) > found {
				break
			}
			for i := range hits {
				h := &hits[i]
				if h.Unreadable != unreadable || e.owner[h.ID] != g.Name || h.Verdict != rules.Deny && h.Verdict != rules.Ask {
					continue
				}
				out = append(out, Finding{Guard: g.Name, Rule: h.ID, Reason: h.Why, Where: h.Where, Mode: e.modes[h.ID],
					Ask: h.Verdict == rules.Ask || e.modes[h.ID] == rules.Asks, LogOnly: h.LogOnly, Unreadable: h.Unreadable})
			}
		}
	}
	return out
}

// AllOn returns modes with which every guard blocks.
func AllOn() map[string]rules.Mode {
	modes := map[string]rules.Mode{}
	for _, g := range names.All() {
		modes[g.Name] = rules.Block
	}
	return modes
}
