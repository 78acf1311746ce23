package install

import (
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/plugins"
)

// Choice holds what you asked for when hooks were written. It is kept until you ask for
// something else: if you wanted calls denied, you still do after an upgrade.
type Choice struct {
	Events []string `json:"events,omitempty"` // as they were named; none: the usual ones
	Deny   bool     `json:"deny,omitempty"`
}

// effectiveOptions returns the options for one agent: what is not said now is as it was
// chosen before.
func (d *draft) effectiveOptions(a *agent.Agent, o Options) (Options, bool) {
	was := d.host.chosenEvents(a, o.Scope, d.old)
	if was == nil {
		return o, false
	}
	kept := false
	if len(o.Events) == 0 && !o.Usual && len(was.Events) > 0 {
		o.Events, kept = was.Events, true
	}
	if !o.Deny && !o.Neutral {
		o.Deny = was.Deny
	}
	return o, kept
}

// chosenEvents returns what was chosen for an agent; nil if it has no hooks of ours. It comes
// from the record or, without one, from the hooks in the files.
func (h *Host) chosenEvents(a *agent.Agent, scope string, m *Manifest) *Choice {
	if a.Install.Way == agent.WayScripts {
		return chosenScripts(scriptsOf(h, a), scope, m).withoutRefused(a)
	}
	var found *Choice
	for _, p := range a.Install.Places {
		path := h.resolvePath(p.HookFile)
		if p.Scope != scope || path == "" {
			continue
		}
		if r := m.Files[path]; r != nil && r.Agent == a.Name && r.Chosen != nil {
			return r.Chosen.withoutRefused(a)
		}
		if found == nil {
			found = h.chosenIn(a, p, path)
		}
	}
	return found.withoutRefused(a)
}

// withoutRefused leaves out events that must not be installed any more.
func (c *Choice) withoutRefused(a *agent.Agent) *Choice {
	if c == nil {
		return nil
	}
	out := *c
	out.Events = slices.DeleteFunc(slices.Clone(c.Events), func(name string) bool {
		e, ok := a.Event(name)
		return ok && e.Install == agent.InstallNever
	})
	return &out
}

func (h *Host) chosenIn(a *agent.Agent, p agent.InstallPlace, path string) *Choice {
	src, err := h.onDisk().read(path)
	if err != nil || src == nil {
		return nil
	}
	if a.Install.Way == agent.WayPlugin {
		if of, _, ours := plugins.Recognise(src); !ours || of != a.Name {
			return nil
		}
		o := plugins.ChosenIn(src, plugins.Options{})
		return &Choice{Events: o.Events, Deny: o.Deny}
	}
	t, err := h.target(path, p, a.Install)
	if err != nil || !hookentry.CouldMention(src) {
		return nil
	}
	r, err := t.ParseText(src)
	if err != nil {
		return nil
	}
	var c *Choice
	var events []string
	for _, s := range t.Handlers(r) {
		if hookentry.IsFor(s, a) {
			if c == nil {
				c = &Choice{}
			}
			events = append(events, s.Event)
			c.Deny = c.Deny || s.Command.Deny
		}
	}
	if c != nil {
		c.Events = chosenAmong(a.WithKnownEvents(h.AgentVersion), events)
	}
	return c
}

// chosenAmong returns the events that were chosen, compared with those that are there: nil
// when they are the usual ones.
func chosenAmong(a *agent.Agent, have []string) []string {
	usual, err := Pick(a, nil)
	if err != nil || len(have) == 0 {
		return nil
	}
	var names []string
	for _, e := range usual {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	sorted := slices.Compact(slices.Sorted(slices.Values(have)))
	if slices.Equal(names, sorted) {
		return nil
	}
	return sorted
}
