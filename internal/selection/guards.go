package selection

import (
	"context"
	"os"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// isBuiltinGuard recognizes the ids of hookmux's own guards.
func isBuiltinGuard(id string) bool {
	return sources.IsRulesHook(id) || id == sources.BudgetHook || sources.IsGuardHook(id)
}

// guardOptions returns what guards and rules are made of in some places.
func guardOptions(r *Service, settings [2]*config.Settings, trusted [2]*trust.TrustedContent,
	at places) *sources.GuardOptions {
	return &sources.GuardOptions{
		Settings: settings, Protected: r.sources.ProtectedPaths(at.roots(), r.TSHooks.Files()...), DaemonPID: os.Getpid(),
		Project: at.here, Pass: r.passesOnce, Trusted: trusted, Resting: r.Pauses.active(), Counts: r.counts.Of,
		Spent: r.Spent, Lifts: &r.lifts,
		Started: func(ev *event.Event) (string, error) { return startOf(r, ev), nil },
		Failed: func(name string, err error) {
			r.Problems.Raise("guard:"+name, "guard "+name+" cannot be made ready: "+err.Error(),
				"it refuses everything until then")
		},
	}
}

// passesOnce reports whether you let a rule pass for a call, and uses that up.
func (r *Service) passesOnce(call *hook.Call, rule string) bool {
	once := r.allowances
	if call.DryRun {
		once = once.copyForDryRun()
	}
	return once.useUp(rule, call.Event, repeatsCalls(r.Catalogue, call.Event.Agent))
}

// failingGuard returns a guard that cannot be made ready: it fails closed.
func failingGuard(why error) func(context.Context, *hook.Call) (event.Decision, error) {
	return func(context.Context, *hook.Call) (event.Decision, error) { return event.Decision{}, why }
}

// repeatsCalls reports whether an agent reports a call again after you approved it.
func repeatsCalls(catalogue *agent.Catalogue, name string) bool {
	a, ok := catalogue.Agent(name)
	return ok && a.Inbox != nil && a.Inbox.Repeats
}
