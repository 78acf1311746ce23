package install

import (
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// Weaker lists the hooked agents that a plan to install leaves with less protection than
// they have: without a hook at an event that guards answer, or neutral where calls were
// denied while hookmux can't be reached.
func (h *Host) Weaker(o Options, plan *Plan) ([]string, error) {
	m, err := h.load()
	if err != nil {
		return nil, err
	}
	var weaker []string
	for _, a := range o.Agents {
		was := h.chosenEvents(a, o.Scope, m)
		if was == nil {
			continue
		}
		if o.Neutral && was.Deny || h.dropsGuarded(a, plan) {
			weaker = append(weaker, a.Name)
		}
	}
	return weaker, nil
}

// dropsGuarded reports whether an event that guards answer loses its hook.
func (h *Host) dropsGuarded(a *agent.Agent, plan *Plan) bool {
	for _, planned := range plan.Agents {
		if planned.Name != a.Name {
			continue
		}
		for _, site := range h.ReadSites(a) {
			if site.Path == planned.Path && slices.ContainsFunc(site.Events, func(name string) bool {
				e, known := a.Event(name)
				return known && (e.Kind == event.ToolBefore || e.Kind == event.PermissionRequest) &&
					!slices.Contains(planned.Events, name)
			}) {
				return true
			}
		}
	}
	return false
}
