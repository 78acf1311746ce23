package selection

import (
	"maps"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/selection/starts"
)

// NoteSession remembers the folder that a session is first heard of in. What an
// earlier hub heard counts.
func (r *Service) NoteSession(ev *event.Event) {
	if ev.Session == "" {
		return
	}
	r.counts.Observe(ev)
	key := sessionKey{ev.Agent, ev.Session}
	r.mu.Lock()
	known := r.sessions.Has(key)
	r.mu.Unlock()
	if known {
		return
	}
	folder, err := starts.Remember(r.Dirs.State, ev.Agent, ev.Session, ev.Cwd)
	if err != nil {
		folder = ev.Cwd
		r.Problems.Raise("starts", "where a session started cannot be written down: "+err.Error(),
			"the next hub does not know it; make room or repair "+r.Dirs.State)
		r.mu.Lock()
		r.unsaved.Put(key, folder, keepSessions)
		r.mu.Unlock()
	} else {
		saveStarts(r)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sessions.Has(key) {
		r.sessions.Put(key, folder, keepSessions)
	}
	if r.noted++; r.noted%keepSessions == 1 {
		go pruneStarts(r)
	}
}

// saveStarts writes down what could not be written before.
func saveStarts(r *Service) {
	if !r.Problems.Any() {
		return
	}
	r.mu.Lock()
	unsaved := maps.Collect(r.unsaved.All())
	r.mu.Unlock()
	for key, folder := range unsaved {
		if _, err := starts.Remember(r.Dirs.State, key.agent, key.session, folder); err != nil {
			return
		}
		r.mu.Lock()
		r.unsaved.Delete(key)
		r.mu.Unlock()
	}
	r.Problems.Mend("starts")
}

// pruneStarts forgets where old sessions started.
func pruneStarts(r *Service) {
	if err := starts.Prune(r.Dirs.State); err != nil {
		r.Log.Warn("starts", "err", err)
	}
}

// startOf is the folder that a session was first heard of in; "" for a session
// nobody heard of.
func startOf(r *Service, ev *event.Event) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	folder, _ := r.sessions.Get(sessionKey{ev.Agent, ev.Session})
	return folder
}

// StartProject is the project that a session was first heard of in; false for a
// session nobody heard of.
func (r *Service) StartProject(agent, session string) (string, bool) {
	r.mu.Lock()
	folder, ok := r.sessions.Get(sessionKey{agent, session})
	r.mu.Unlock()
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
