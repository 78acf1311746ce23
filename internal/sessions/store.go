package sessions

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/store"
)

// sessionStore keeps the sessions on disk, so that the next daemon knows them. One
// goroutine uses it, the service's.
type sessionStore struct {
	deps    services.Deps
	tracker *tracker
	log     *store.Log // nil while it cannot be written
	dirty   map[state.Key]bool
	loaded  time.Time // up to when the log knew what happened
}

func newSessionStore(deps services.Deps, t *tracker) *sessionStore {
	return &sessionStore{deps: deps, tracker: t, dirty: map[state.Key]bool{}}
}

func (s *sessionStore) logFile() string { return filepath.Join(s.deps.Dirs.State, "sessions.log") }

// loadSessions reads what an earlier daemon wrote.
func (s *sessionStore) loadSessions() {
	var stored []*state.Session
	log, skipped, err := store.OpenLog(s.logFile(), func(e store.Entry) { stored = s.readEntry(stored, e) })
	if err != nil {
		s.deps.Problems.Raise("sessions",
			"what sessions do cannot be kept across restarts of the daemon: "+err.Error(), "repair "+s.logFile())
		return
	}
	if skipped > 1 { // one is cut off when a daemon dies
		s.deps.Log.Warn("lines of the session log could not be read", "file", s.logFile(), "lines", skipped)
	}
	if log.Aside != "" {
		s.deps.Problems.Raise("unfit:"+s.logFile(), s.logFile()+" was no file of hookmux; it was set aside",
			"look at "+log.Aside+", and remove it")
	}
	s.log = log
	s.putStored(stored)
}

// readEntry reads an entry of the log and adds the session in it to stored, if it's one.
func (s *sessionStore) readEntry(stored []*state.Session, e store.Entry) []*state.Session {
	var one struct {
		state.Session
		logMark
	}
	if json.Unmarshal(e.Value, &one) != nil {
		return stored
	}
	switch {
	case !one.Written.IsZero():
		s.loaded = one.Written
	case !one.Forgot.IsZero():
		if agent, id, ok := strings.Cut(e.Key, ":"); ok {
			s.tracker.setForgotten(state.Key{Agent: agent, ID: id}, one.Forgot)
		}
	default:
		return append(stored, &one.Session)
	}
	return stored
}

func (s *sessionStore) putStored(stored []*state.Session) {
	s.tracker.sessions.Load(stored, time.Now(), func(one *state.Session) state.Liveness {
		return sessionLife(s.deps.Processes, one)
	})
}

// retryOpen opens a log that couldn't be read or written before: it may have been repaired.
func (s *sessionStore) retryOpen() {
	if s.log != nil {
		return
	}
	log, _, err := store.OpenLog(s.logFile(), func(store.Entry) {}) // what is in memory is newer
	if err != nil {
		return
	}
	s.log = log
	for _, one := range s.tracker.sessions.Snapshot() {
		s.dirty[one.Key] = true
	}
	s.writeDirty()
	s.deps.Problems.Clear("sessions")
}

// logMark is kept in the log besides sessions: up to when it is complete, and what you
// removed from the list.
type logMark struct {
	Written time.Time `json:"written,omitzero"`
	Forgot  time.Time `json:"forgot,omitzero"`
}

const writtenKey = "written"

// missingSince returns the time from which the journal may know events that the log
// does not.
func (s *sessionStore) missingSince() time.Time {
	since := s.loaded.Add(-2 * writePeriod)
	if oldest := time.Now().Add(-state.LeaveAfter); since.Before(oldest) {
		return oldest
	}
	return since
}

func (s *sessionStore) markDirty(key state.Key) { s.dirty[key] = true }

// writeDirty writes what changed.
func (s *sessionStore) writeDirty() {
	if len(s.dirty) == 0 {
		return
	}
	if s.log == nil {
		clear(s.dirty)
		return
	}
	// The time is taken first: what comes meanwhile is read twice.
	written, _ := json.Marshal(logMark{Written: time.Now()})
	entries := make([]store.Entry, 0, len(s.dirty)+1)
	for key := range s.dirty {
		entries = append(entries, s.entryOf(key))
	}
	err := s.log.Append(append(entries, store.Entry{Key: writtenKey, Value: written}))
	if err != nil || s.log.Full() {
		err = s.log.Rewrite(append(s.allEntries(), store.Entry{Key: writtenKey, Value: written}))
	}
	if err != nil {
		s.deps.Problems.Raise("sessions",
			"what sessions do cannot be written down: "+err.Error(), "make room or repair "+s.logFile())
		return // it stays dirty
	}
	s.deps.Problems.Clear("sessions")
	clear(s.dirty)
}

// entryOf returns what the log says about a session.
func (s *sessionStore) entryOf(key state.Key) store.Entry {
	e := store.Entry{Key: key.String()}
	if one, ok := s.tracker.sessions.Get(key); ok {
		e.Value = storedForm(one, s.deps.Redactor)
		return e
	}
	if forgot := s.tracker.forgottenAt(key); time.Since(forgot) < state.LeaveAfter {
		e.Value, _ = json.Marshal(logMark{Forgot: forgot})
	}
	return e
}

// allEntries returns everything the log must hold.
func (s *sessionStore) allEntries() []store.Entry {
	var all []store.Entry
	for _, key := range s.tracker.forgottenKeys() {
		all = append(all, s.entryOf(key))
	}
	for _, one := range s.tracker.sessions.Snapshot() {
		all = append(all, store.Entry{Key: one.Key.String(), Value: storedForm(one, s.deps.Redactor)})
	}
	return all
}

// closeLog writes what changed and closes the log.
func (s *sessionStore) closeLog() {
	s.writeDirty()
	if s.log != nil {
		s.log.Close()
	}
}

var storedLimits = redact.DefaultLimits()

// storedForm returns a session as it may be stored: without secrets.
func storedForm(one *state.Session, redactor *redact.Redactor) json.RawMessage {
	b, err := json.Marshal(one)
	if err != nil {
		return nil
	}
	clean, _ := redactor.AppendJSON(make([]byte, 0, len(b)+64), b, storedLimits)
	return clean
}

// writePeriod is how long a change may wait to be written: what is lost
// meanwhile is read from the journal again.
const writePeriod = 250 * time.Millisecond
