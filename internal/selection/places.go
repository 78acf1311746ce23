package selection

import "github.com/hookmux/hookmux/event"

// NoteSession remembers the project that a session is first heard of in.
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
	here := r.ProjectOf(ev.Cwd)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sessions.Has(key) {
		r.sessions.Put(key, here, keepSessions)
	}
}

// StartProject is the project that a session was first heard of in; false for a
// session nobody heard of.
func (r *Service) StartProject(agent, session string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions.Get(sessionKey{agent, session})
}

// placesOf finds the projects of an event.
func (r *Service) placesOf(ev *event.Event) places {
	at := places{here: r.ProjectOf(ev.Cwd)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if start, ok := r.sessions.Get(sessionKey{ev.Agent, ev.Session}); ok && start != at.here {
		at.start = start
	}
	return at
}
