package selection

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/services"
)

// guardPriority puts hookmux's own guards before every hook a user may write.
const guardPriority = -1000

// isBuiltinGuard tells the ids of hookmux's own guards.
func isBuiltinGuard(id string) bool {
	name, ok := strings.CutPrefix(id, "guard.")
	return ok && slices.ContainsFunc(guard.List(), func(g guard.Info) bool { return g.Name == name })
}

// guardEntries makes the built-in guards that are switched on into hooks.
func (r *Service) guardEntries(settings [2]*config.Settings, at places) []*hook.Entry {
	var entries []*hook.Entry
	for _, info := range guard.List() {
		state, allow := tighterGuard(settings, "guard."+info.Name)
		if state == "off" || state == "" {
			continue
		}
		g, err := guard.New(info.Name, guard.Options{
			Ask: state == "ask", Allow: allow, OwnPaths: r.protectedPaths(at), HubPID: os.Getpid(),
			Resolve: registry.RealPath,
		})
		if err != nil {
			r.Problems.Raise("guard:"+info.Name, "guard "+info.Name+" cannot be made ready: "+err.Error(), "")
			continue
		}
		priority := guardPriority
		for _, kind := range []event.Kind{event.ToolBefore, event.PermissionRequest} {
			e, err := hook.NewEntry(hook.Registration{
				ID: "guard." + info.Name, Agent: hook.Any, HookType: string(kind), Handler: "builtin",
				Target: "guard." + info.Name,
				Mode:   hook.Guard, Priority: &priority, Locked: true,
			}, r.guardHandler(g, at), "builtin")
			if err == nil {
				e.BuiltinGuard = true
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// tighterGuard is the state of a guard and the rules it leaves alone where two
// projects have a say.
func tighterGuard(settings [2]*config.Settings, key string) (state string, allow []string) {
	state, allow = settings[0].Choice(key), settings[0].Strings(config.GuardAllow)
	other := settings[1]
	if other == nil {
		return state, allow
	}
	if theirs := other.Choice(key); state != "on" && (theirs == "on" || theirs == "ask") {
		state = theirs
	}
	also := other.Strings(config.GuardAllow)
	return state, slices.DeleteFunc(allow, func(rule string) bool { return !slices.Contains(also, rule) })
}

func (r *Service) guardHandler(g *guard.Guard, at places) hook.Handler {
	home := r.Dirs.Home
	return hook.HandlerFunc(func(ctx context.Context, call *hook.Call) (event.Decision, error) {
		t := call.Event.Tool
		if call.Event.Truncated && (t == nil || len(t.Input) == 0) {
			return event.Decision{Verdict: event.Deny, Reason: "guard." + g.Name() +
				" cannot see what this call does, because its payload was too large and is cut; do it in smaller pieces"}, nil
		}
		if why := call.Event.Unreadable(); why != "" {
			return event.Decision{Verdict: event.Ask, Reason: "guard." + g.Name() + " cannot see what this call does: " + why}, nil
		}
		if t == nil {
			return event.Decision{}, nil
		}
		project := at.here
		if project == "" {
			project = call.Event.Cwd
		}
		findings := g.Check(guard.Call{
			Agent: call.Event.Agent, ToolKind: string(t.Kind), ToolName: t.Name, Commands: t.Commands, Reads: t.Reads,
			Writes: t.Writes, URL: t.URL, Input: t.CurrentInput(), Cwd: call.Event.Cwd, Project: project, Home: home,
		})
		for _, f := range findings {
			once := r.allowances
			if services.IsDryRun(ctx) {
				once = once.copyForDryRun()
			}
			if once.useUp(f.Rule, call.Event, r.repeatsCalls(call.Event.Agent)) {
				continue
			}
			d := event.Decision{Verdict: event.Deny, Reason: guard.Message(f)}
			if g.Ask() {
				d.Verdict = event.Ask
			}
			return d, nil
		}
		return event.Decision{}, nil
	})
}

// failingGuard is a guard that cannot be made ready: it fails closed.
func failingGuard(why error) func(context.Context, *hook.Call) (event.Decision, error) {
	return func(context.Context, *hook.Call) (event.Decision, error) { return event.Decision{}, why }
}

// protectedPaths is what guard.own-files keeps agents from writing: hookmux's own
// places and every agent's hook config.
func (r *Service) protectedPaths(at places) []string {
	d := r.Dirs
	list := append([]string{d.Config, d.State, d.Runtime, d.Data, d.System}, r.Modules.Files()...)
	roots := []string{at.here, at.start}
	for _, root := range roots {
		if root != "" {
			list = append(list, filepath.Join(root, ".hookmux"))
		}
	}
	for _, a := range r.Catalogue.Agents() {
		for _, f := range a.Files {
			switch {
			case strings.HasPrefix(f.Path, "~/"):
				list = append(list, filepath.Join(d.Home, f.Path[2:]))
			case strings.HasPrefix(f.Path, "./"):
				for _, root := range roots {
					if root != "" {
						list = append(list, filepath.Join(root, f.Path[2:]))
					}
				}
			case filepath.IsAbs(f.Path):
				list = append(list, f.Path)
			}
		}
	}
	return list
}

// repeatsCalls reports whether an agent reports a call again once a person said yes.
func (r *Service) repeatsCalls(name string) bool {
	a, ok := r.Catalogue.Agent(name)
	return ok && a.Feed != nil && a.Feed.Repeats
}
