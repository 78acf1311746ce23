package hub

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/config"
	"github.com/hookmux/hookmux/internal/guard"
)

// guardPriority puts hookmux's own guards before every hook a user may write.
const guardPriority = -1000

// guards makes the built-in guards that are switched on into hooks.
func (r *rules) guards(settings *config.Settings, at places) []*hook.Entry {
	var entries []*hook.Entry
	for _, info := range guard.List() {
		state := settings.Choice("guard." + info.Name)
		if state == "off" || state == "" {
			continue
		}
		g, err := guard.New(info.Name, guard.Options{Ask: state == "ask", Allow: settings.Strings(config.GuardAllow), OwnPaths: r.ownPaths(at)})
		if err != nil {
			r.hub.problems.raise("guard:"+info.Name, "guard "+info.Name+" cannot be made ready: "+err.Error(), "")
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

func (r *rules) guardHandler(g *guard.Guard, at places) hook.Handler {
	home := r.hub.dirs.Home
	return hook.HandlerFunc(func(_ context.Context, call *hook.Call) (event.Decision, error) {
		t := call.Event.Tool
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
			if r.once.take(f.Rule, call.Event.ID) {
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
	d := r.hub.dirs
	list := []string{d.Config, d.State, d.Runtime, d.Data, d.System}
	roots := []string{at.here, at.start}
	for _, root := range roots {
		if root != "" {
			list = append(list, filepath.Join(root, ".hookmux"))
		}
	}
	for _, a := range r.hub.catalogue.Agents() {
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

// allowances are rules a person let pass once. One lasts ten minutes and is
// used up by one event: its second look and its permission request count as
// the same.
type allowances struct {
	mu   *sync.Mutex
	open map[string]time.Time
	used map[string]string // rule → event that used it, for its second look
}

const allowanceLasts = 10 * time.Minute

func newAllowances() allowances {
	return allowances{mu: new(sync.Mutex), open: map[string]time.Time{}, used: map[string]string{}}
}

func (a allowances) give(rule string) {
	a.mu.Lock()
	a.open[rule] = time.Now().Add(allowanceLasts)
	a.mu.Unlock()
}

func (a allowances) drop(rule string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, had := a.open[rule]
	delete(a.open, rule)
	return had
}

func (a allowances) take(rule, eventID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used[rule] == eventID {
		return true
	}
	until, ok := a.open[rule]
	if !ok || time.Now().After(until) {
		delete(a.open, rule)
		return false
	}
	delete(a.open, rule)
	a.used[rule] = eventID
	return true
}

// containsName is the cheap look before the exact one.
func containsName(env []byte, name string) bool { return bytes.Contains(env, []byte(name)) }
