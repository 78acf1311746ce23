package sources

import (
	"context"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/gitfiles"
	"github.com/hookmux/hookmux/internal/policy/guards"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/policy/shell"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// GuardPriority puts hookmux's own guards before every hook a user may write.
const GuardPriority = -1000

// GuardOptions configures built-in guards.
type GuardOptions struct {
	// Settings of the project the call happens in, and of the one its session
	// started in; the second may be nil.
	Settings  [2]*config.Settings
	Protected []string // paths that agents must not write
	DaemonPID int
	Project   string // "" for none
	// Trusted holds the trusted content of the two projects; nil where there is none.
	Trusted [2]*trust.TrustedContent
	// Everywhere are the rules that count in every place; nil reads them.
	Everywhere *ruleset.Loaded
	// Resting are the guards, rules and packs that are in log mode for a while.
	Resting []Pause
	// Counts returns what happened before in an event's session. Nil: it isn't known.
	Counts func(ev *event.Event) (facts.Counts, bool)
	// Started returns the folder that an event's session started in, or an error if it
	// isn't known. Nil: in the folder of the call.
	Started func(ev *event.Event) (string, error)
	// Pass reports whether you let a rule pass for this call. Nil: never.
	Pass func(call *hook.Call, rule string) bool
	// Spent knows what agents used; nil if nothing here does. Lifts says which budgets you
	// lifted; nil for none.
	Spent budget.Spent
	Lifts *budget.Lifts
	// Failed is called for a guard that can't be prepared. The guard then denies.
	Failed func(name string, err error)
}

// Guards turns the built-in guards that are on, or in log mode, and the user's rules into
// hooks.
func (s *Sources) Guards(o GuardOptions) []*hook.Entry {
	var entries []*hook.Entry
	scripts := &shell.Cache{Programs: s.programsIn(&o)}
	engine, failed := guards.New(s.engineOptions(&o, scripts))
	for _, info := range names.All() {
		id := hook.GuardID(info.Name)
		on, stops := true, true
		if failed == nil {
			on, stops = engine.IsOn(info.Name)
		} else if state, _ := tighterGuard(o.Settings, id); state == config.GuardOff {
			continue
		} else if o.Failed != nil {
			o.Failed(info.Name, failed)
		}
		if !on {
			continue
		}
		add := func(id string, logs bool) {
			run := hook.HandlerFunc(func(_ context.Context, call *hook.Call) (event.Decision, error) {
				if failed != nil {
					return event.Decision{}, failed
				}
				return checkCall(engine, info.Name, call, &o, logs), nil
			})
			priority := GuardPriority
			for _, kind := range []event.Kind{event.ToolBefore, event.PermissionRequest} {
				e, err := hook.NewEntry(hook.Registration{
					ID: id, Agent: hook.Any, HookType: string(kind), Handler: "builtin", Target: id,
					Role: hook.Guard, Priority: &priority, Locked: true, LogOnly: logs,
				}, run, "builtin")
				if err == nil {
					e.BuiltinGuard = true
					entries = append(entries, e)
				}
			}
		}
		if stops {
			add(id, false)
		}
		if failed == nil && engine.Logs(info.Name) {
			if stops {
				id += logSuffix
			}
			add(id, true)
		}
	}
	return append(append(entries, s.ruleEntries(&o, scripts)...), budgetEntries(&o)...)
}

// logSuffix ends the id of what a guard only records, beside what it stops.
const logSuffix = ".log"

// IsGuardHook recognizes the ids of the built-in guards' hooks.
func IsGuardHook(id string) bool {
	name, ok := hook.GuardName(strings.TrimSuffix(id, logSuffix))
	return ok && names.Is(name)
}

// engineOptions returns what the engine of the guards is made of.
func (s *Sources) engineOptions(o *GuardOptions, scripts *shell.Cache) guards.Options {
	modes := map[string]rules.Mode{}
	var allow []string
	for _, info := range names.All() {
		id := hook.GuardID(info.Name)
		var state string
		state, allow = tighterGuard(o.Settings, id)
		if state == "" {
			continue
		}
		if config.GuardStops(state) && o.IsPaused(id) {
			state = config.GuardLog
		}
		modes[info.Name] = rules.Mode(state)
	}
	return guards.Options{
		Modes: modes, Rules: RuleModes(o.Settings[0]), Allow: allow, Hosts: tighterHosts(o.Settings), Home: s.Dirs.Home,
		Machine: facts.Machine{OwnPaths: o.Protected, DaemonPID: o.DaemonPID, Resolve: paths.Real, Twin: paths.Twin, Disk: disk},
		Scripts: scripts, Git: findRepository, Counts: o.Counts,
	}
}

// programsIn returns what is known about programs where an event happens, and where its
// session started: the built-in table with your descriptions and those of trusted
// projects over it.
func (s *Sources) programsIn(o *GuardOptions) *programs.Table {
	base, here, start := s.RulesIn(o)
	return programs.NewTable(base.Programs, here.Programs, start.Programs)
}

// tighterGuard returns the state of a guard and the rules it leaves alone where two
// projects apply.
func tighterGuard(settings [2]*config.Settings, key string) (state string, allow []string) {
	state, allow = settings[0].Choice(key), settings[0].Strings(config.GuardAllow)
	other := settings[1]
	if other == nil {
		return state, allow
	}
	state = config.TighterGuard(state, other.Choice(key))
	also := other.Strings(config.GuardAllow)
	return state, slices.DeleteFunc(allow, func(rule string) bool { return !slices.Contains(also, rule) })
}

// tighterHosts returns the hosts that the network guard allows if two projects apply; nil
// if neither names any.
func tighterHosts(settings [2]*config.Settings) []string {
	hosts := settings[0].Strings(config.GuardHosts)
	if other := settings[1]; other != nil {
		also := other.Strings(config.GuardHosts)
		switch {
		case len(hosts) == 0:
			hosts = also
		case len(also) > 0:
			hosts = slices.DeleteFunc(hosts, func(host string) bool { return !slices.Contains(also, host) })
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return hosts
}

// findRepository reads git's own files.
func findRepository(dir string) facts.Repository {
	r := gitfiles.Find(dir)
	if r == nil {
		return nil // and no interface around nothing
	}
	return r
}

// checkCall asks one guard about one call. The reason of one that only logs
// does not say that it stopped the call.
func checkCall(engine *guards.Engine, name string, call *hook.Call, o *GuardOptions, onlyLogs bool) event.Decision {
	ev, t := call.Event, call.Event.Tool
	if ev.Truncated && (t == nil || len(t.Input) == 0) {
		return event.Decision{Verdict: event.Deny, Reason: hook.GuardID(name) +
			" cannot see what this call does, because its payload was too large and is cut; do it in smaller pieces"}
	}
	if why := ev.Unreadable(); why != "" {
		return event.Decision{
			Verdict: event.Ask,
			Reason:  hook.GuardID(name) + " cannot see what this call does: " + why,
		}
	}
	for _, f := range engine.Check(ev, o.Project) {
		if f.Guard != name || f.LogOnly != onlyLogs || o.Pass != nil && o.Pass(call, f.Rule) {
			continue
		}
		d := event.Decision{Verdict: event.Deny, Reason: guards.Message(f), Rule: f.Rule}
		if onlyLogs {
			d.Reason = event.OneLine(f.Rule + ": " + f.Reason + " [" + f.Where + "]")
		}
		if f.Ask {
			d.Verdict = event.Ask
		}
		return d
	}
	return event.Decision{}
}
