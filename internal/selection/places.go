package selection

import "github.com/hookmux/hookmux/event"

// NoteSession remembers the project that a session is first heard of in.
func (r *Service) NoteSession(ev *event.Event) {
	if ev.Session == "" {
		return
	}
	key := sessionKey{ev.Agent, ev.Session}
	r.mu.Lock()
	_, known := r.sessions[key]
	r.mu.Unlock()
	if known {
		return
	}
	here := r.ProjectOf(ev.Cwd)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.sessions[key]; known {
		return
	}
	r.sessions[key] = here
	if r.order = append(r.order, key); len(r.order) > keepSessions {
		delete(r.sessions, r.order[0])
		r.order = r.order[1:]
	}
}

// StartProject is the project that a session was first heard of in; false for a
// session nobody heard of.
func (r *Service) StartProject(agent, session string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	root, ok := r.sessions[sessionKey{agent, session}]
	return root, ok
}

// placesOf finds the projects of an event.
func (r *Service) placesOf(ev *event.Event) places {
	at := places{here: r.ProjectOf(ev.Cwd)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if start, ok := r.sessions[sessionKey{ev.Agent, ev.Session}]; ok && start != at.here {
		at.start = start
	}
	return at
}
