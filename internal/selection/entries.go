package selection

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
)

// makeEntries makes guards and registrations ready. Where two projects have a
// hook of the same id, the one the event happens in counts.
func (r *Service) makeEntries(settings [2]*config.Settings, sets [2]*registry.Set, trusted [2]*trust.TrustedContent,
	at places) []*hook.Entry {
	var entries []*hook.Entry
	seen := map[string]bool{}
	for i, set := range sets {
		if set == nil {
			continue
		}
		for _, reg := range set.Hooks {
			if seen[reg.ID] || i == 1 && reg.Scope == registry.Global {
				continue
			}
			seen[reg.ID] = true
			if reg.Handler == hook.HandlerTypeScript {
				own, err := r.TSHooks.Registered(reg, trusted[i], settings[0])
				if err != nil {
					own = brokenEntry(r.Problems, reg, err)
				}
				entries = append(entries, r.asAccepted(reg, own)...)
				continue
			}
			if e := r.makeEntry(reg, trusted[i], settings[0]); e != nil {
				entries = append(entries, r.asAccepted(reg, []*hook.Entry{e})...)
			}
		}
	}
	entries = append(entries, r.TSHooks.Entries(settings[0], trusted)...)
	r.Pauses.applyTo(entries)
	// Guards last, because they keep agents from the files of the others;
	// first in order.
	entries = slices.Concat(r.sources.Guards(*guardOptions(r, settings, trusted, at)), r.Extra, entries)
	hook.Sort(entries)
	return entries
}

// DropProblemsOf forgets what was wrong with a hook that is changed or gone;
// if it still is, the next event says so.
func (r *Service) DropProblemsOf(id string) {
	r.Problems.Clear("hook:" + id)
	r.Problems.Clear("hook-load:" + id)
}

func (r *Service) makeEntry(reg registry.Entry, trusted *trust.TrustedContent, settings *config.Settings) *hook.Entry {
	if reg.Timeout == 0 {
		if span := settings.Span(config.HooksTimeout); span > 0 {
			reg.Timeout = hook.Duration(span)
		}
	}
	ready := reg.Registration
	ready.Agent = r.AgentName(ready.Agent)
	for i, name := range ready.SkipAgents {
		ready.SkipAgents = slices.Clone(ready.SkipAgents)
		ready.SkipAgents[i] = r.AgentName(name)
	}
	var err error
	if reg.Scope == registry.Project && trusted != nil {
		ready, err = trusted.Rewrite(ready) // runs the trusted copy, never the project's file
	}
	var run hook.Handler
	if err == nil && reg.Scope == registry.Global {
		err = checkTarget(ready)
	}
	switch {
	case err != nil:
	case reg.Scope == registry.Global:
		run, err = r.newRunner(ready, reg.Unaccepted)
	default:
		run, err = handler.New(ready, r.handlers)
	}
	if err == nil {
		var e *hook.Entry
		if e, err = hook.NewEntry(ready, run, reg.Scope); err == nil {
			r.Problems.Clear("hook-load:" + reg.ID)
			e.Inline = handler.Shipped(ready)
			return e
		}
	}
	for _, e := range brokenEntry(r.Problems, reg, err) {
		return e
	}
	return nil
}

// brokenEntry reports a registration that cannot be made ready. A guard that
// cannot is a guard that fails.
func brokenEntry(list *services.Problems, reg registry.Entry, err error) []*hook.Entry {
	problem := userfile.Problem{File: reg.File, Line: reg.Line, Text: reg.ID + ": " + err.Error()}
	list.Raise("hook-load:"+reg.ID, problem.String(),
		"correct it; until then it does not run")
	if !reg.IsEnabled() || reg.RoleFor(event.ToolBefore) != hook.Guard {
		return nil
	}
	if e, err := hook.NewEntry(reg.Registration, hook.HandlerFunc(failingGuard(err)), reg.Scope); err == nil {
		return []*hook.Entry{e}
	}
	return nil
}

// checkTarget refuses a user's own script or command that begins with a
// relative path: it would run whatever file of that name an untrusted project
// has.
func checkTarget(reg hook.Registration) error {
	if !reg.RunsProgram() {
		return nil
	}
	words, err := handler.Split(reg.Target)
	if err != nil || len(words) == 0 {
		if reg.Handler == "command" {
			return nil // the shell knows better
		}
		return err
	}
	program := words[0].In("/home")
	if reg.Handler == "command" && strings.ContainsAny(program, "=$`({") {
		return nil // an assignment, a variable: not a plain path
	}
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		return fmt.Errorf("target %q is relative, so it would run a file of whatever project an agent is in; write "+
			"it with an absolute path or ~/", program)
	}
	return nil
}
