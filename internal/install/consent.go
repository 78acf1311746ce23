package install

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// consent adds what is installed to the list of commands that the agent's user allowed. The user
// is shown the change of this file like that of the hooks.
func (d *draft) consent(a *agent.Agent, commands []hookentry.Command, o Options) error {
	list := a.ConsentList()
	if list == nil {
		return nil
	}
	place := list.Install.Places[0]
	path := d.host.resolvePath(place.HookFile)
	return d.entries(list, place, path, commands, o, &AgentPlan{})
}

// takeOutConsent removes our commands from that list.
func (d *draft) takeOutConsent(a *agent.Agent) error {
	list := a.ConsentList()
	if list == nil {
		return nil
	}
	place := list.Install.Places[0]
	return d.takeOut(list, place, d.host.resolvePath(place.HookFile), place.Scope)
}

// readConsent looks for hooks of ours that aren't in the list verbatim: the agent ignores them, or
// asks the user first.
func (l siteReader) readConsent(s *Site) {
	list := l.agent.ConsentList()
	if list == nil || s.Err != nil || s.Ours == 0 {
		return
	}
	place := list.Install.Places[0]
	path := l.host.resolvePath(place.HookFile)
	t, err := l.host.target(path, place, list.Install)
	if err != nil {
		return
	}
	src, _ := l.host.onDisk().read(path) // what cannot be read allows nothing
	allowed := t.CommandsIn(src)
	for _, event := range slices.Clone(s.Running) {
		c := hookentry.Command{Program: Shim(l.host.Dirs), Agent: l.agent.Name, Event: event}
		if slices.ContainsFunc(allowed, func(a hookentry.Command) bool {
			return a.Program == c.Program && a.Agent == c.Agent && a.Event == event
		}) {
			continue
		}
		what := fmt.Sprintf("%s is not allowed in %s", event, filepath.Base(path))
		s.Stale, s.MayMiss = append(s.Stale, what), append(s.MayMiss, what)
		s.Running = slices.DeleteFunc(s.Running, func(e string) bool { return e == event })
	}
}
