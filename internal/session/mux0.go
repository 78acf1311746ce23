package session

import (
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// Mux0 takes a line of mux0's clients in, as mux0's own app would: one state
// per terminal, its gates, its staleness; but a turn's start survives a
// question, so that durations are right. received counts where the line has
// no time.
func (b *Book) Mux0(m *wire.Mux0Message, received time.Time, where event.Place, rules Rules) Change {
	at := timeOr(m.Time(), received)
	key := Key{m.Agent, m.TerminalID}
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.shelf.get(key)
	if before, ok := b.terminals[m.TerminalID]; ok && before != key {
		// Another agent in the same terminal goes on with the terminal's state.
		if s := b.shelf.get(before); s != nil {
			moved := s.clone()
			moved.Key = key
			b.drop(before)
			b.put(old, moved)
			old = moved
		}
	}
	c := Change{Key: key}
	next := &Session{
		Key: key, Terminal: m.TerminalID, Status: NeverRan, Since: at, StartedAt: at,
		Beneath: Beneath{Base: NeverRan, BaseSince: at},
	}
	if old != nil {
		next = old.clone()
	}
	if at.After(next.LastEvent) {
		next.LastEvent = at
	}
	if where.PID != 0 || where.Pane != "" || where.TTY != "" {
		next.Place = where
	}
	if title := fold(m.SessionTitle, maxSummary); title != "" && !at.Before(next.Beneath.TitleAt) {
		next.Beneath.TitleAt = at
		next.Title.Own, next.Title.Source = title, "mux0"
	}
	if !rules.Off {
		next.mux0(m, at, &c)
	}
	b.settle(old, next, &c)
	return c
}

// mux0 follows mux0's table. A state's time is when its turn began, or when
// it was entered; a line from before it is dropped, one of the same time not.
func (s *Session) mux0(m *wire.Mux0Message, at time.Time, c *Change) {
	if at.Before(s.mux0Time()) {
		c.Stale = "older than the terminal's state"
		return
	}
	if !s.Live() {
		s.revive()
	}
	n := &news{ev: &event.Event{Agent: m.Agent, Message: m.Summary}, at: at}
	switch m.Event {
	case "running":
		if !s.Turn.Open() {
			s.open(n, false)
			c.TurnStarted = true
		}
		s.Asks = nil
		s.Beneath.Said = fold(m.ToolDetail, maxSummary)
		s.base(Running, at)
	case "idle":
		if s.Beneath.Base.Finished() && len(s.Asks) == 0 {
			c.Stale = "the result stays"
			return
		}
		if s.Turn.Open() {
			s.close(at, Interrupted) // its end was not reported
		}
		s.Asks = nil
		s.Beneath.Base, s.Beneath.BaseSince = Idle, at // idle again is idle since now
	case "needsInput":
		if s.Beneath.Base != Running || len(s.Asks) > 0 {
			c.Stale = "only what runs can need input"
			return
		}
		s.Asks = []Ask{{At: at, What: fold(m.ToolDetail, maxSummary)}}
	case "finished":
		if m.ExitCode == nil {
			c.Stale = "finished without an exit code"
			return
		}
		if !s.Turn.Open() {
			s.open(n, true)
		}
		s.Turn.Summary = Summary(m.Summary)
		result, status := OK, Success
		if *m.ExitCode != 0 {
			result, status = ToolErrors, Failed
		}
		s.close(at, result)
		s.Beneath.Base, s.Beneath.BaseSince, s.ReadAt = status, at, time.Time{}
		c.TurnEnded, c.Turn = true, s.Turn
	}
}

// mux0Time is the time of the terminal's state.
func (s *Session) mux0Time() time.Time {
	switch {
	case len(s.Asks) > 0:
		return s.Asks[0].At
	case s.Turn.Open():
		return s.Turn.Started
	case s.Beneath.Base == NeverRan:
		return time.Time{}
	case s.Beneath.Base.Finished():
		return s.Turn.Ended
	}
	return s.Beneath.BaseSince
}

// timeOr is t, or other when t is not set.
func timeOr(t, other time.Time) time.Time {
	if t.IsZero() {
		return other
	}
	return t
}
