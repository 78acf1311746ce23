package state

// sessionTable is the sessions with their index by process; a [Sessions] guards it.
type sessionTable struct {
	sessions map[Key]*Session // replaced as a whole, never changed
	index    sessionIndex
}

// putSession makes s the session of its key, in place of old.
func (t *sessionTable) putSession(old, s *Session) {
	t.sessions[s.Key] = s
	t.index.replaceEntry(old, s)
}

// dropSession forgets a session.
func (t *sessionTable) dropSession(key Key) {
	if s := t.sessions[key]; s != nil {
		t.index.removeEntry(s)
		delete(t.sessions, key)
	}
}

// selectSessions returns every session that fits, in no order.
func (t *sessionTable) selectSessions(fits func(*Session) bool) []*Session {
	var out []*Session
	for _, s := range t.sessions {
		if fits(s) {
			out = append(out, s)
		}
	}
	return out
}
