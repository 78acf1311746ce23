package hub

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/kvlog"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

func (s *sessions) logFile() string { return filepath.Join(s.deps.Dirs.State, "sessions.log") }

// load reads what an earlier hub wrote down.
func (s *sessions) load() {
	var stored []*state.Session
	log, skipped, err := kvlog.Open(s.logFile(), func(e kvlog.Entry) {
		var one struct {
			state.Session
			logMark
		}
		if json.Unmarshal(e.Value, &one) != nil {
			return
		}
		switch {
		case !one.Written.IsZero():
			s.loaded = one.Written
		case !one.Forgot.IsZero():
			if agent, id, ok := strings.Cut(e.Key, ":"); ok {
				s.forgot[state.Key{Agent: agent, ID: id}] = one.Forgot
			}
		default:
			stored = append(stored, &one.Session)
		}
	})
	if err != nil {
		s.deps.Problems.Raise("sessions", "what sessions do cannot be kept across restarts of the hub: "+err.Error(), "repair "+s.logFile())
		return
	}
	if skipped > 1 { // one is cut off when a hub dies
		s.deps.Log.Warn("lines of the session log could not be read", "file", s.logFile(), "lines", skipped)
	}
	s.log = log
	s.book.Load(stored, time.Now(), s.alive)
}

// repair tries again what could not be read or written, now that somebody may
// have seen to it.
func (s *sessions) repair() {
	if s.unread {
		if err := s.records.Reload(); err == nil {
			s.unread = false
			s.deps.Problems.Mend("resume")
		}
	}
	if s.log != nil {
		return
	}
	log, _, err := kvlog.Open(s.logFile(), func(kvlog.Entry) {}) // what is in memory is newer
	if err != nil {
		return
	}
	s.log = log
	for _, one := range s.book.Snapshot() {
		s.dirty[one.Key] = true
	}
	s.flush()
	s.deps.Problems.Mend("sessions")
}

// logMark is what the log holds besides sessions: up to when it is whole, and
// what a person does not want back.
type logMark struct {
	Written time.Time `json:"written,omitzero"`
	Forgot  time.Time `json:"forgot,omitzero"`
}

const writtenKey = "written"

// catchUp applies what the journal heard and the log did not: events of the
// last moments before a hub died. The drain calls it once everything on disk
// is in the journal.
func (s *sessions) catchUp(ctx context.Context) {
	since := s.loaded.Add(-2 * flushEvery)
	if oldest := time.Now().Add(-state.LeaveAfter); since.Before(oldest) {
		since = oldest
	}
	filter := s.hub.drain.filter(wire.Filter{Since: since})
	j := s.hub.drain.book.Load()
	if j == nil {
		return
	}
	for stored, err := range j.Query(ctx, filter) {
		if err != nil {
			s.deps.Log.Warn("the journal could not be read for sessions", "error", err)
			return
		}
		if ev := s.hub.drain.rebuild(&stored); ev.Agent != "hookmux" {
			s.late(&ev)
		}
	}
}

// flush writes down what changed.
func (s *sessions) flush() {
	if len(s.dirty) == 0 {
		return
	}
	if s.log == nil {
		clear(s.dirty)
		return
	}
	written, _ := json.Marshal(logMark{Written: time.Now()}) // before the looks: what comes meanwhile is read twice
	entries := make([]kvlog.Entry, 0, len(s.dirty)+1)
	for key := range s.dirty {
		entries = append(entries, s.entry(key))
	}
	err := s.log.Append(append(entries, kvlog.Entry{Key: writtenKey, Value: written}))
	if err != nil || s.log.Full() {
		err = s.log.Rewrite(append(s.whole(), kvlog.Entry{Key: writtenKey, Value: written}))
	}
	if err != nil {
		s.deps.Problems.Raise("sessions", "what sessions do cannot be written down: "+err.Error(), "make room or repair "+s.logFile())
		return // it stays dirty
	}
	s.deps.Problems.Mend("sessions")
	clear(s.dirty)
}

// entry is what the log says about a session.
func (s *sessions) entry(key state.Key) kvlog.Entry {
	e := kvlog.Entry{Key: key.String()}
	if one, ok := s.book.Get(key); ok {
		e.Value = stored(one)
		return e
	}
	s.mu.Lock()
	forgot := s.forgot[key]
	s.mu.Unlock()
	if time.Since(forgot) < state.LeaveAfter {
		e.Value, _ = json.Marshal(logMark{Forgot: forgot})
	}
	return e
}

// whole is everything the log must hold.
func (s *sessions) whole() []kvlog.Entry {
	var all []kvlog.Entry
	s.mu.Lock()
	var gone []state.Key
	for key, at := range s.forgot {
		if time.Since(at) >= state.LeaveAfter {
			delete(s.forgot, key)
		} else if _, back := s.book.Get(key); !back {
			gone = append(gone, key)
		}
	}
	s.mu.Unlock()
	for _, key := range gone {
		all = append(all, s.entry(key))
	}
	for _, one := range s.book.Snapshot() {
		all = append(all, kvlog.Entry{Key: one.Key.String(), Value: stored(one)})
	}
	return all
}

// stored is a session fit for a disk: without secrets.
func stored(one *state.Session) json.RawMessage {
	b, err := json.Marshal(one)
	if err != nil {
		return nil
	}
	clean, _ := redact.AppendJSON(make([]byte, 0, len(b)+64), b, limits)
	return clean
}
