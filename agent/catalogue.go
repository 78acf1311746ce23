package agent

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/version"
)

// genericName is the entry that reads payloads of unknown agents. It isn't an agent: it is
// never listed and carries no answer.
const genericName = "generic"

// Catalogue is a set of agents. It does not change once built and may be used
// from any goroutine.
type Catalogue struct {
	agents  []*Agent          // by name
	byName  map[string]*Agent // names and aliases
	generic *Agent
	// protocols are the entries whose events may be any agent's, by name.
	protocols map[string]*Agent
}

var builtin = sync.OnceValue(func() *Catalogue { return assemble(readCompiled().Agents) })

// Builtin returns the catalogue that comes with hookmux.
func Builtin() *Catalogue { return builtin() }

// Agent finds an agent by its name or one of its aliases.
func (c *Catalogue) Agent(nameOrAlias string) (*Agent, bool) {
	a, ok := c.byName[nameOrAlias]
	return a, ok
}

// Agents lists all agents by name.
func (c *Catalogue) Agents() []*Agent { return c.agents }

// entries returns everything in the catalogue, ordered by name.
func (c *Catalogue) entries() []*Agent {
	all := append([]*Agent{c.generic}, c.agents...)
	for _, protocol := range c.protocols {
		all = append(all, protocol)
	}
	slices.SortFunc(all, func(a, b *Agent) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// OfHookFormat finds the agent whose files hold hooks in a format.
func (c *Catalogue) OfHookFormat(format string) (*Agent, bool) {
	for _, a := range c.agents {
		if a.HookFormat != "" && a.HookFormat == format {
			return a, true
		}
	}
	return nil, false
}

// entry returns the agent or the generic entry; for an event of a protocol, the protocol.
func (c *Catalogue) entry(name, native string) *Agent {
	if a, ok := c.EntryOf(name, native); ok {
		return a
	}
	return c.generic
}

// answering returns the entry by which an event is answered: that of entry, or the generic
// one where the agent has no such event and most agents refuse a call there. Programs
// push events under the names that they know; guards must look at them all the same.
func (c *Catalogue) answering(name, native string) *Agent {
	a := c.entry(name, native)
	if _, own := a.Event(native); !own {
		if shared, ok := c.generic.Event(native); ok && shared.Carries.Deny != nil {
			return c.generic
		}
	}
	return a
}

// EntryOf finds the entry that describes an event: the agent's, or that of the protocol by
// which a program reports it in the agent's place.
func (c *Catalogue) EntryOf(agent, native string) (*Agent, bool) {
	if a, ok := c.Protocol(native); ok {
		return a, true
	}
	a, ok := c.byName[agent]
	return a, ok
}

// Protocol finds the protocol that an event belongs to by its name.
func (c *Catalogue) Protocol(native string) (*Agent, bool) {
	name, _, ok := strings.Cut(native, ":")
	if !ok {
		return nil, false
	}
	a, ok := c.protocols[name]
	return a, ok
}

// NamedInACP finds the agent that calls itself by a name when an editor talks to
// it by the Agent Client Protocol. A package's name may have a scope.
func (c *Catalogue) NamedInACP(name string) (*Agent, bool) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	for _, a := range c.agents {
		if a.ACP != nil && !a.Guest && (slices.Contains(a.ACP.Names, name) || slices.Contains(a.ACP.Names, base)) {
			return a, true
		}
	}
	return nil, false
}

// Carries returns what an agent of a version can carry back at one of its events. For an
// unknown version it returns what holds today; for an unknown agent or event, nothing.
func (c *Catalogue) Carries(agent, native, version string) event.Carries {
	a, ok := c.EntryOf(agent, native)
	if !ok {
		return event.Carries{}
	}
	e, ok := a.Event(native)
	if !ok {
		return event.Carries{}
	}
	return e.CarriesAt(version)
}

// CarriesFor returns the capability row for one event: like [Carries], but without what may
// only be sent if someone is known to attend, if no one is.
func (c *Catalogue) CarriesFor(ev *event.Event) event.Carries {
	e, ok := c.answering(ev.Agent, ev.Native).Event(ev.Native)
	if !ok {
		return event.Carries{}
	}
	return e.carriesFor(ev)
}

// KnowsEvent reports whether events of that name can be read: as the agent's own, or as most
// agents call it if the agent is unknown or a call can be denied.
func (c *Catalogue) KnowsEvent(agent, native string) bool {
	_, known := c.answering(agent, native).Event(native)
	return known
}

func (e *EventSpec) carriesFor(ev *event.Event) event.Carries {
	carries := e.CarriesAt(ev.AgentVersion)
	if ask := e.Carries.Ask; ask != nil && ask.NeedsUser && ev.Attended != event.AttendedYes {
		carries.Ask = false
	}
	return carries
}

// Event finds one of the agent's events by its native name.
func (a *Agent) Event(native string) (*EventSpec, bool) {
	t, ok := a.compiled.events[native]
	if !ok {
		return nil, false
	}
	return t.spec, true
}

// KindOf returns the unified kind of a native event; [event.Other] when unknown.
func (a *Agent) KindOf(native string) event.Kind {
	if e, ok := a.Event(native); ok {
		return e.Kind
	}
	return event.Other
}

// InstallTimeout returns the time limit hookmux asks for when it registers for an
// event; zero means that the agent's own default is left alone.
func (a *Agent) InstallTimeout(native string) time.Duration {
	e, ok := a.Event(native)
	if !ok {
		return 0
	}
	if e.InstallTimeout != 0 {
		return time.Duration(e.InstallTimeout)
	}
	return time.Duration(e.Timeout)
}

// Timeout returns how long the agent waits for a hook when its config says
// nothing.
func (a *Agent) Timeout(native string) time.Duration {
	if e, ok := a.Event(native); ok {
		return time.Duration(e.Timeout)
	}
	return 0
}

// CarriesAt returns the event's capability row for one version of the agent.
func (e *EventSpec) CarriesAt(version string) event.Carries {
	c := &e.Carries
	return event.Carries{
		Allow: c.Allow.holds(version), Deny: c.Deny.holds(version), Ask: c.Ask.holds(version),
		Input: c.Input.holds(version), Output: c.Output.holds(version), Context: c.Context.holds(version),
		Keep: c.Keep.holds(version), Notice: c.Notice.holds(version),
	}
}

// holds reports whether the claim is made for a version.
func (c *Capability) holds(version string) bool {
	switch {
	case c == nil:
		return false
	case version == "":
		return c.Until == "" // today's row
	case c.Since != "" && compareVersions(version, c.Since) < 0:
		return false
	case c.Until != "" && compareVersions(version, c.Until) >= 0:
		return false
	}
	return true
}

// compareVersions compares what agents call their versions.
func compareVersions(a, b string) int { return version.Dotted(a, b) }

// assemble builds the lookup tables of checked entries.
func assemble(entries []*Agent) *Catalogue {
	c := &Catalogue{byName: map[string]*Agent{}, protocols: map[string]*Agent{}}
	for _, a := range entries {
		if a.compiled == nil { // else it belongs to another catalogue as well
			a.compiled = compile(a)
		}
		if a.Name == genericName {
			c.generic = a
			continue
		}
		if a.Protocol {
			c.protocols[a.Name] = a
			continue
		}
		c.agents = append(c.agents, a)
	}
	sort.Slice(c.agents, func(i, j int) bool { return c.agents[i].Name < c.agents[j].Name })
	for _, a := range c.agents {
		for _, alias := range a.Aliases {
			c.byName[alias] = a
		}
	}
	for _, a := range c.agents {
		c.byName[a.Name] = a
	}
	return c
}
