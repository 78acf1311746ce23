package sessions

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// switches are the settings that matter for sessions. They are read a few times
// a second at most and never while an event waits for its answer.
type switches struct {
	catalogue  *agent.Catalogue
	rules      map[string]state.Rules
	otherRules state.Rules // for agents the catalogue does not know
	resume     map[string]bool
	followTmux bool
	tmuxNames  string
	terminals  string // which terminals are told what sessions do
}

// tmux reports whether tmux shows sessions, and how it names windows.
func (s *switches) tmux() (follow bool, names string) { return s.followTmux, s.tmuxNames }

// readSwitches reads the switches out of the settings.
func readSwitches(deps services.Deps, settings *config.Settings) *switches {
	now := &switches{
		catalogue: deps.Catalogue, rules: map[string]state.Rules{}, resume: map[string]bool{},
		followTmux: settings.Choice(config.TmuxFollow) == "on", tmuxNames: settings.Choice(config.TmuxNames),
		terminals: settings.Choice(config.TerminalStatus),
	}
	now.otherRules.Off = settings.Choice(config.Status) == "off"
	for _, a := range deps.Catalogue.Agents() {
		on := settings.On(config.Status, a.Name)
		now.rules[a.Name] = state.Rules{Spec: &a.Status, Off: !on}
		now.resume[a.Name] = on && settings.On(config.Resume, a.Name)
	}
	return now
}

func (s *switches) rulesFor(agent string) state.Rules {
	if r, ok := s.rules[agent]; ok {
		return r
	}
	return s.otherRules
}

// rulesOf returns the rules for an event: if a program reports it in the agent's place, the
// protocol says what it means for the status.
func (s *switches) rulesOf(ev *event.Event) state.Rules {
	r := s.rulesFor(ev.Agent)
	if protocol, ok := s.catalogue.Protocol(ev.Native); ok {
		r.Spec = &protocol.Status
	}
	return r
}

// SettingsSource knows the settings as they are now.
type SettingsSource interface {
	Settings() *config.Settings
}
