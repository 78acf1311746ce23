package selection

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/selection/origins"
)

// NoteSession remembers the folder that a session is first heard of in. What an
// earlier daemon heard counts.
func (r *Service) NoteSession(ev *event.Event) {
	if ev.Session == "" {
		return
	}
	r.counts.Observe(ev)
	_, err := r.starts.Remember(origins.Session{Agent: ev.Agent, ID: ev.Session}, ev.Cwd)
	switch {
	case err != nil:
		r.Problems.Raise("starts", "can't save where a session started: "+err.Error(),
			"the next daemon does not know it; make room or repair "+r.Dirs.State)
	case r.Problems.Any() && r.starts.AllSaved():
		r.Problems.Clear("starts")
	}
}

// startOf returns the folder that a session was first seen in; "" for an unknown session.
func startOf(r *Service, ev *event.Event) string {
	folder, _ := r.starts.Known(origins.Session{Agent: ev.Agent, ID: ev.Session})
	return folder
}

// StartProject returns the project that a session was first seen in; false for an unknown
// session.
func (r *Service) StartProject(agent, session string) (string, bool) {
	folder, ok := r.starts.Known(origins.Session{Agent: agent, ID: session})
	return r.ProjectOf(folder), ok
}

// placesOf finds the projects of an event.
func (r *Service) placesOf(ev *event.Event) places {
	at := places{here: r.ProjectOf(ev.Cwd)}
	if start := startOf(r, ev); start != "" && start != ev.Cwd {
		if project := r.ProjectOf(start); project != at.here {
			at.start = project
		}
	}
	return at
}
