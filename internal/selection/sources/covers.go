package sources

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// This file finds out which events guards apply to, for the note that the hook client reads
// when it gets no answer (package guardnote).

// GuardedEvents lists the events in which the built-in guards of some settings, the
// person whom they want to be asked, and some hooks apply.
func GuardedEvents(c *agent.Catalogue, settings *config.Settings, regs []hook.Registration) []guardnote.Cover {
	var covers []guardnote.Cover
	for _, info := range names.All() {
		if config.GuardStops(settings.Choice(hook.GuardID(info.Name))) {
			covers = append(covers, guardnote.Builtin()...)
			covers = append(covers, ownAgents(c)...)
			break
		}
	}
	for _, a := range c.Agents() {
		if e, ok := settings.Get(config.ApprovalsPolicy + "." + a.Name); ok && !e.Default &&
			(e.Value == "side-effects" || e.Value == "all") {
			covers = append(covers, underAllNames(a, string(event.ToolBefore))...)
		}
	}
	for i := range regs {
		covers = append(covers, coversOfHook(c, &regs[i])...)
	}
	return covers
}

// ownAgents lists the guarded events of agents that the client's table does not
// know: those of the user's own files.
func ownAgents(c *agent.Catalogue) []guardnote.Cover {
	var covers []guardnote.Cover
	for _, a := range c.Agents() {
		if _, builtin := agent.Builtin().Agent(a.Name); builtin {
			continue
		}
		for _, e := range a.Events {
			if e.Kind.Guarded() {
				covers = append(covers, underAllNames(a, e.Name)...)
			}
		}
	}
	return covers
}

// underAllNames returns one event of an agent under all the names an installed command may
// call the agent by.
func underAllNames(a *agent.Agent, what string) []guardnote.Cover {
	list := []guardnote.Cover{{Agent: a.Name, Event: what}}
	for _, alias := range a.Aliases {
		list = append(list, guardnote.Cover{Agent: alias, Event: what})
	}
	return list
}

// coversOfHook lists the events at which a hook guards.
func coversOfHook(c *agent.Catalogue, reg *hook.Registration) []guardnote.Cover {
	if !reg.IsEnabled() || reg.LogOnly || reg.FailureMeans() == hook.FailIgnore {
		return nil
	}
	var covers []guardnote.Cover
	for _, a := range c.Agents() {
		if own, ok := c.Agent(reg.Agent); reg.Agent != hook.Any && (!ok || own != a) {
			continue
		}
		for _, e := range a.Events {
			fits := reg.HookType == hook.Any || reg.HookType == string(e.Kind) || reg.HookType == e.Name
			if fits && reg.RoleFor(e.Kind) == hook.Guard {
				covers = append(covers, underAllNames(a, e.Name)...)
			}
		}
	}
	return covers
}
