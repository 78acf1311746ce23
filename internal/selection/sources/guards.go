package sources

import (
	"context"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/guard/names"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/gitfiles"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/shell/scriptcache"
)

// GuardPriority puts hookmux's own guards before every hook a user may write.
const GuardPriority = -1000

// GuardOptions is what built-in guards are made of.
type GuardOptions struct {
	// Settings of the project the call happens in, and of the one its session
	// started in; the second may be nil.
	Settings  [2]*config.Settings
	Protected []string // paths that agents must not write
	DaemonPID int
	Project   string // "" for none
	// Trusted are what is trusted of the two projects; nil where there is none.
	Trusted [2]*trust.TrustedContent
	// Everywhere are the rules that count in every place; nil reads them.
	Everywhere *ruleset.Loaded
	// Resting are the guards, rules and packs that only logs for a while.
	Resting []Pause
	// Counts tells what happened before in an event's session. Nil: it is not
	// known.
	Counts func(ev *event.Event) (facts.Counts, bool)
	// Started tells the folder that an event's session started in; an error where
	// nobody knows it. Nil: in the folder of the call.
	Started func(ev *event.Event) (string, error)
	// Pass reports whether a person let a rule pass for this call. Nil: never.
	Pass func(ctx context.Context, rule string, ev *event.Event) bool
	// Spent knows what agents used; nil: nobody does here. Lifts are what you let pass
	// of budgets; nil: nothing.
	Spent budget.Spent
	Lifts *budget.Lifts
	// Failed hears of a guard that cannot be made ready. It refuses then.
	Failed func(name string, err error)
}

// Guards makes the built-in guards that are switched on, or only log, and the rules
// of people into hooks.
func (s *Sources) Guards(o GuardOptions) []*hook.Entry {
	var entries []*hook.Entry
	scripts := &scriptcache.Cache{Programs: s.programsIn(&o)}
	shared := new(guard.SharedFacts)
	for _, info := range names.All() {
		state, allow := tighterGuard(o.Settings, hook.GuardID(info.Name))
		if state == config.GuardOff || state == "" {
			continue
		}
		if config.GuardStops(state) && o.IsPaused(hook.GuardID(info.Name)) {
			state = config.GuardLog
		}
		g, err := guard.New(info.Name, guard.Options{
			Ask: state == config.GuardAsk, Allow: allow, OwnPaths: o.Protected, DaemonPID: o.DaemonPID,
			Resolve: paths.Real, Twin: paths.Twin, Scripts: scripts, Facts: shared, Hosts: tighterHosts(o.Settings),
			Git: findRepository, Counts: o.Counts,
		})
		if err != nil && o.Failed != nil {
			o.Failed(info.Name, err)
		}
		run := hook.HandlerFunc(func(ctx context.Context, call *hook.Call) (event.Decision, error) {
			if err != nil {
				return event.Decision{}, err
			}
			return s.checkCall(ctx, g, call.Event, o, state == config.GuardLog), nil
		})
		priority := GuardPriority
		for _, kind := range []event.Kind{event.ToolBefore, event.PermissionRequest} {
			e, err := hook.NewEntry(hook.Registration{
				ID: hook.GuardID(info.Name), Agent: hook.Any, HookType: string(kind), Handler: "builtin",
				Target: hook.GuardID(info.Name),
				Mode:   hook.Guard, Priority: &priority, Locked: true,
				LogOnly: state == config.GuardLog,
			}, run, "builtin")
			if err == nil {
				e.BuiltinGuard = true
				entries = append(entries, e)
			}
		}
	}
	return append(append(entries, s.ruleEntries(&o, scripts)...), budgetEntries(&o)...)
}

// programsIn is what is known about programs where an event happens, and where its
// session started: the built-in table with your descriptions and those of trusted
// projects over it.
func (s *Sources) programsIn(o *GuardOptions) *programs.Table {
	base, here, start := s.RulesIn(o)
	return programs.NewTable(base.Programs, here.Programs, start.Programs)
}

// tighterGuard is the state of a guard and the rules it leaves alone where two
// projects have a say.
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

// tighterHosts are the hosts that the network guard leaves alone where two projects
// have a say; nil where nobody says any.
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
func (s *Sources) checkCall(ctx context.Context, g *guard.Guard, ev *event.Event, o GuardOptions,
	onlyLogs bool) event.Decision {
	t := ev.Tool
	if ev.Truncated && (t == nil || len(t.Input) == 0) {
		return event.Decision{Verdict: event.Deny, Reason: hook.GuardID(g.Name()) +
			" cannot see what this call does, because its payload was too large and is cut; do it in smaller pieces"}
	}
	if why := ev.Unreadable(); why != "" {
		return event.Decision{
			Verdict: event.Ask,
			Reason:  hook.GuardID(g.Name()) + " cannot see what this call does: " + why,
		}
	}
	if t == nil {
		return event.Decision{}
	}
	findings := g.Check(guard.CallOf(ev, o.Project, s.Dirs.Home))
	for _, f := range findings {
		if o.Pass != nil && o.Pass(ctx, f.Rule, ev) {
			continue
		}
		d := event.Decision{Verdict: event.Deny, Reason: guard.Message(f), Rule: f.Rule}
		if onlyLogs {
			d.Reason = event.OneLine(f.Rule + ": " + f.Reason + " [" + f.Where + "]")
		}
		if g.Ask() || f.Ask {
			d.Verdict = event.Ask
		}
		return d
	}
	return event.Decision{}
}
