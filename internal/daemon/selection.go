package daemon

import (
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// newSelection creates the service that selects hooks with what it needs.
func (h *Daemon) newSelection(extra []*hook.Entry, environ []string) *selection.Service {
	return selection.New(selection.Options{
		Deps: h.deps, TSHooks: h.tsHooks, Extra: extra, Environment: environ, Mark: h.marks.Mark,
		Accepted: h.accepted, Context: h.ctx, Spent: h.usage,
		Proofs:          func() selection.Proofs { return h.approvals.Proofs() },
		SettingsChanged: func() { h.sessions.ReadSettings(); h.notify.ReadSettings(); h.telemetry.ReadSettings() },
	})
}

// retention returns how much of the journal the settings keep.
func (h *Daemon) retention() recorder.Retention {
	s := h.selection.Config.Settings()
	keep := recorder.Retention{
		Age: s.Span(config.JournalKeep), MaxBytes: s.Size(config.JournalMaxSize), AgentAge: map[string]time.Duration{},
	}
	for _, a := range h.deps.Catalogue.Agents() {
		if own := s.Keep(a.Name); own != keep.Age {
			keep.AgentAge[a.Name] = own
		}
	}
	return keep
}
