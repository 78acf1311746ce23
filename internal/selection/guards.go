package hub

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
)

// guardPriority puts hookmux's own guards before every hook a user may write.
const guardPriority = -1000

// isOwnGuard tells the ids of hookmux's own guards.
func isOwnGuard(id string) bool {
	name, ok := strings.CutPrefix(id, "guard.")
	return ok && slices.ContainsFunc(guard.List(), func(g guard.Info) bool { return g.Name == name })
}

// guards makes the built-in guards that are switched on into hooks.
func (r *rules) guards(settings [2]*config.Settings, at places) []*hook.Entry {
	var entries []*hook.Entry
	for _, info := range guard.List() {
		state, allow := tighter(settings, "guard."+info.Name)
		if state == "off" || state == "" {
			continue
		}
		g, err := guard.New(info.Name, guard.Options{
			Ask: state == "ask", Allow: allow, OwnPaths: r.ownPaths(at), HubPID: os.Getpid(), Resolve: registry.RealPath,
		})
		if err != nil {
			r.deps.Problems.Raise("guard:"+info.Name, "guard "+info.Name+" cannot be made ready: "+err.Error(), "")
			continue
		}
		priority := guardPriority
		for _, kind := range []event.Kind{event.ToolBefore, event.PermissionRequest} {
			e, err := hook.NewEntry(hook.Registration{
				ID: "guard." + info.Name, Agent: hook.Any, HookType: string(kind), Handler: "builtin", Target: "guard." + info.Name,
				Mode: hook.Guard, Priority: &priority, Locked: true,
			}, r.guardHandler(g, at), "builtin")
			if err == nil {
				e.BuiltinGuard = true
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// tighter is the state of a guard and the rules it leaves alone where two
// projects have a say.
func tighter(settings [2]*config.Settings, key string) (state string, allow []string) {
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

func (r *rules) guardHandler(g *guard.Guard, at places) hook.Handler {
	home := r.deps.Dirs.Home
	return hook.HandlerFunc(func(ctx context.Context, call *hook.Call) (event.Decision, error) {
		t := call.Event.Tool
		if call.Event.Truncated && (t == nil || len(t.Input) == 0) {
			return event.Decision{Verdict: event.Deny, Reason: "guard." + g.Name() + " cannot see what this call does, because its payload was too large and is cut; do it in smaller pieces"}, nil
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
			once := r.once
			if dry(ctx) {
				once = once.rehearsed()
			}
			if once.take(f.Rule, call.Event, r.repeats(call.Event.Agent)) {
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

func brokenGuard(why error) func(context.Context, *hook.Call) (event.Decision, error) {
	return func(context.Context, *hook.Call) (event.Decision, error) { return event.Decision{}, why }
}

// ownPaths is what guard.own-files keeps agents from writing: hookmux's own
// places and every agent's hook config.
func (r *rules) ownPaths(at places) []string {
	d := r.deps.Dirs
	list := append([]string{d.Config, d.State, d.Runtime, d.Data, d.System}, r.hub.modules.Files()...)
	roots := []string{at.here, at.start}
	for _, root := range roots {
		if root != "" {
			list = append(list, filepath.Join(root, ".hookmux"))
		}
	}
	for _, a := range r.deps.Catalogue.Agents() {
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

// dryRun marks a context in which nothing may be used up: explain only looks.
type dryRun struct{}

func dry(ctx context.Context) bool { return ctx.Value(dryRun{}) != nil }

// allowances are rules a person let pass once. One lasts ten minutes and is
// used up by one call: its second look and its permission request count as the
// same.
type allowances struct {
	mu   *sync.Mutex
	open map[string]time.Time
	used map[string]usedUp // by rule
}

// usedUp is the call that used an allowance.
type usedUp struct {
	event  string // for its second look
	call   string // for its permission request, which is another event
	number string // the agent's own, for agents that report one call twice
	until  time.Time
}

const allowanceLasts = 10 * time.Minute

func newAllowances() allowances {
	return allowances{mu: new(sync.Mutex), open: map[string]time.Time{}, used: map[string]usedUp{}}
}

func (a allowances) give(rule string) {
	a.mu.Lock()
	a.open[rule] = time.Now().Add(allowanceLasts)
	a.mu.Unlock()
}

// rehearsed is a copy, of which nothing is missed when it is used up.
func (a allowances) rehearsed() allowances {
	a.mu.Lock()
	defer a.mu.Unlock()
	return allowances{mu: new(sync.Mutex), open: maps.Clone(a.open), used: maps.Clone(a.used)}
}

func (a allowances) drop(rule string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, had := a.open[rule]
	delete(a.open, rule)
	delete(a.used, rule)
	return had
}

// repeats: this agent reports a call again once a person said yes.
func (r *rules) repeats(name string) bool {
	a, ok := r.deps.Catalogue.Agent(name)
	return ok && a.Feed != nil && a.Feed.Repeats
}

func (a allowances) take(rule string, ev *event.Event, repeats bool) bool {
	call := ev.Agent + "\x00" + ev.Session + "\x00" + ev.Tool.Name + "\x00" + string(ev.Tool.CurrentInput())
	number := ""
	if repeats && ev.Tool.CallID != "" {
		number = call + "\x00" + ev.Tool.CallID
	}
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if u, ok := a.used[rule]; ok && now.Before(u.until) {
		if number != "" && u.number == number {
			return true
		}
		if u.event == ev.ID {
			u.call = call // as a hook may have changed it
			a.used[rule] = u
			return true
		}
		if ev.Kind == event.PermissionRequest && u.call == call {
			u.event, u.call = ev.ID, "" // asked for once
			a.used[rule] = u
			return true
		}
	}
	until, ok := a.open[rule]
	delete(a.open, rule)
	if !ok || now.After(until) {
		return false
	}
	u := usedUp{event: ev.ID, number: number, until: now.Add(allowanceLasts)}
	if ev.Kind == event.ToolBefore {
		u.call = call
	}
	a.used[rule] = u
	return true
}

// containsName is the cheap look before the exact one.
func containsName(env []byte, name string) bool { return bytes.Contains(env, []byte(name)) }
