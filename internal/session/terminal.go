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
	old := b.store.getSession(key)
	if before, ok := b.terminals[m.TerminalID]; ok && before != key {
		// Another agent in the same terminal goes on with the terminal's state.
		if s := b.store.getSession(before); s != nil {
			moved := s.copySession()
			moved.Key = key
			b.dropSession(before)
			b.putSession(old, moved)
			old = moved
		}
	}
	c := Change{Key: key}
	next := &Session{
		Key: key, Terminal: m.TerminalID, Status: NeverRan, Since: at, StartedAt: at,
		Machine: MachineState{Base: NeverRan, BaseSince: at},
	}
	if old != nil {
		next = old.copySession()
	}
	if at.After(next.LastEvent) {
		next.LastEvent = at
	}
	if where.PID != 0 || where.Pane != "" || where.TTY != "" {
		next.Place = where
	}
	if title := foldLine(m.SessionTitle, maxSummary); title != "" && !at.Before(next.Machine.TitleAt) {
		next.Machine.TitleAt = at
		next.Title.Own, next.Title.Source = title, "mux0"
	}
	if !rules.Off {
		next.applyTerminalReport(m, at, &c)
	}
	b.commitChange(old, next, &c)
	return c
}

// applyTerminalReport follows mux0's table. A state's time is when its turn began, or when
// it was entered; a line from before it is dropped, one of the same time not.
func (s *Session) applyTerminalReport(m *wire.Mux0Message, at time.Time, c *Change) {
	if at.Before(s.terminalStateTime()) {
		c.Stale = "older than the terminal's state"
		return
	}
	if !s.Live() {
		s.reviveSession()
	}
	n := &input{ev: &event.Event{Agent: m.Agent, Message: m.Summary}, at: at}
	switch m.Event {
	case "running":
		if !s.Turn.Open() {
			s.openTurn(n, false)
			c.TurnStarted = true
		}
		s.Asks = nil
		s.Machine.Activity = foldLine(m.ToolDetail, maxSummary)
		s.setBase(Running, at)
	case "idle":
		if s.Machine.Base.Finished() && len(s.Asks) == 0 {
			c.Stale = "the result stays"
			return
		}
		if s.Turn.Open() {
			s.closeTurn(at, Interrupted) // its end was not reported
		}
		s.Asks = nil
		s.Machine.Base, s.Machine.BaseSince = Idle, at // idle again is idle since now
	case "needsInput":
		if s.Machine.Base != Running || len(s.Asks) > 0 {
			c.Stale = "only what runs can need input"
			return
		}
		s.Asks = []Ask{{At: at, What: foldLine(m.ToolDetail, maxSummary)}}
	case "finished":
		if m.ExitCode == nil {
			c.Stale = "finished without an exit code"
			return
		}
		if !s.Turn.Open() {
			s.openTurn(n, true)
		}
		s.Turn.Summary = Summary(m.Summary)
		result, status := OK, Success
		if *m.ExitCode != 0 {
			result, status = ToolErrors, Failed
		}
		s.closeTurn(at, result)
		s.Machine.Base, s.Machine.BaseSince, s.ReadAt = status, at, time.Time{}
		c.TurnEnded, c.Turn = true, s.Turn
	}
}

// terminalStateTime is the time of the terminal's state.
func (s *Session) terminalStateTime() time.Time {
	switch {
	case len(s.Asks) > 0:
		return s.Asks[0].At
	case s.Turn.Open():
		return s.Turn.Started
	case s.Machine.Base == NeverRan:
		return time.Time{}
	case s.Machine.Base.Finished():
		return s.Turn.Ended
	}
	return s.Machine.BaseSince
}

// timeOr is t, or other when t is not set.
func timeOr(t, other time.Time) time.Time {
	if t.IsZero() {
		return other
	}
	return t
}
