package hub

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// moduleEntries are the hooks of all files that count in some places and stand
// in no registration: the user's folder, then the projects', then settings, as
// pi orders them.
func (r *rules) moduleEntries(settings [2]*config.Settings, forces [2]*trust.Force) []*hook.Entry {
	ms := r.hub.modules
	timeout := settings[0].Millis(config.HookTimeout)
	files := ms.want("folder", ms.inFolder(), timeout)
	seen := map[string]bool{}
	for _, f := range forces {
		if f != nil && !seen[f.Root] {
			seen[f.Root] = true
			files = append(files, ms.want("project:"+f.Root, ms.inProject(f), timeout)...)
		}
	}
	files = append(files, ms.want("settings", ms.inSettings(settings[0]), timeout)...)
	var entries []*hook.Entry
	known := map[*held]bool{}
	for _, one := range files {
		if !known[one] {
			known[one] = true
			entries = append(entries, ms.entriesOf(one, one.id)...)
		}
	}
	return entries
}

// entriesOf are where a file wants to be called.
func (ms *modules) entriesOf(one *held, id string) []*hook.Entry {
	var entries []*hook.Entry
	for _, reg := range ms.registrations(one, id) {
		reg.ID = id
		if e, err := hook.NewEntry(reg, &moduleRun{ms, one, reg.HookType}, one.scope); err == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// registrations of a file that cannot even be read: it is asked about every
// tool call and refuses, because nobody knows what it would have said. One that
// is still loading is asked about everything; the event waits for it.
func (ms *modules) registrations(one *held, id string) []hook.Registration {
	unknown := []hook.Registration{{ID: id, Agent: hook.Any, HookType: string(event.ToolBefore), Handler: "module", Target: one.path, Mode: hook.Guard, Timeout: hook.Duration(hook.MaxTimeout)}}
	m := ms.of(one)
	if m == nil {
		return append(unknown, hook.Registration{ID: id, Agent: hook.Any, HookType: hook.Any, Handler: "module", Target: one.path, Mode: hook.Advise})
	}
	if info := m.Info(); !info.OK() && len(info.Events) == 0 {
		return unknown
	}
	return m.Registrations(id)
}

// registered makes the hooks of a registration that names a file. With the
// type "*" it is called where the file wants to be; what the registration says
// otherwise counts.
func (r *rules) registered(reg registry.Entry, force *trust.Force, settings *config.Settings) []*hook.Entry {
	ms := r.hub.modules
	scope := reg.Scope
	ready := reg.Registration
	ready.Agent = r.deps.AgentName(ready.Agent)
	w := wanted{id: reg.ID, scope: scope}
	var err error
	if scope == registry.Project && force != nil {
		if ready, err = force.Rewrite(ready); err == nil && force.Covers(ready.Target) {
			w.force = force
		}
	}
	w.path = ms.expand(ready.Target)
	if err == nil && !filepath.IsAbs(w.path) {
		err = fmt.Errorf("target %q is relative, so it would be a file of whatever project an agent is in; write it with an absolute path or ~/", ready.Target)
	}
	owner := "hook:" + reg.File + ":" + reg.ID
	if err != nil {
		ms.want(owner, nil, 0)
		return r.brokenEntry(reg, err)
	}
	files := ms.want(owner, []wanted{w}, settings.Millis(config.HookTimeout))
	if len(files) == 0 || !ready.IsEnabled() {
		return nil
	}
	r.deps.Problems.Mend("hook-load:" + reg.ID)
	one := files[0]
	regs := []hook.Registration{ready}
	if ready.HookType == hook.Any {
		regs = nil
		for _, own := range ms.registrations(one, reg.ID) {
			if own.Agent == hook.Any || ready.Agent == hook.Any || own.Agent == ready.Agent {
				regs = append(regs, withOwn(own, ready))
			}
		}
	}
	var entries []*hook.Entry
	for _, one := range regs {
		if e, err := hook.NewEntry(one, &moduleRun{ms, files[0], one.HookType}, scope); err == nil {
			entries = append(entries, e)
		} else {
			return r.brokenEntry(reg, err)
		}
	}
	return entries
}

// withOwn is a file's own registration with what a person wrote laid over it.
func withOwn(own, said hook.Registration) hook.Registration {
	out := said
	out.HookType = own.HookType
	if own.Agent != hook.Any {
		out.Agent = own.Agent // an event that only this agent has
	}
	if said.Mode == "" {
		out.Mode = own.Mode
	}
	if said.OnFailure == "" {
		out.OnFailure = own.OnFailure
	}
	if said.Timeout == 0 {
		out.Timeout = own.Timeout
	}
	return out
}

// moduleRun is a file as a handler: it waits for the first loading.
type moduleRun struct {
	ms       *modules
	one      *held
	hookType string // where it was registered
}

// moduleError is a file's failure, which the file reported itself, once for
// each of its contents.
type moduleError struct{ error }

func (e *moduleError) Unwrap() error { return e.error }

var errNotLoaded = errors.New("is still being loaded")

// Prompt: whatever it waits for, it stops waiting at the end of its time.
func (r *moduleRun) Prompt() {}

func (r *moduleRun) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	if r.hookType == hook.Any && call.Event.Kind == event.ToolBefore {
		return event.Decision{}, nil // its guard is asked
	}
	if err := r.one.wait(ctx); err != nil {
		return event.Decision{}, &moduleError{fmt.Errorf("%s: %w", filepath.Base(r.one.path), errNotLoaded)}
	}
	m := r.ms.of(r.one)
	if m == nil {
		return event.Decision{}, &moduleError{fmt.Errorf("%s: cannot be loaded while the hub ends", filepath.Base(r.one.path))}
	}
	d, err := m.Handle(ctx, call)
	if err != nil {
		return event.Decision{}, &moduleError{errors.New(r.one.force.Shown(err.Error()))}
	}
	return d, nil
}
