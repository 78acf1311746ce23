package state

// sessionTable is the sessions with their index by process; a [Sessions] guards it.
type sessionTable struct {
	store compactStore
	index sessionIndex
}

// putSession makes s the session of its key, in place of old.
func (t *sessionTable) putSession(old, s *Session) {
	t.store.putActive(s)
	t.index.replaceEntry(old, s)
}

// dropSession forgets a session.
func (t *sessionTable) dropSession(key Key) {
	if g, ok := t.store.overviewOf(key); !ok {
		return
	} else if !g.indexed {
		if g.Live {
			t.index.unlinkProcess(processID{g.PID, g.Start}, key)
		}
		t.store.removeSession(key)
		return
	}
	t.index.removeEntry(t.store.getSession(key))
	t.store.removeSession(key)
}
