package state

import (
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
)

// TerminalReport is a terminal application's report about the agent in one
// of its terminals, instead of the agent's own events. The names follow mux0,
// the application that defined these reports.
type TerminalReport struct {
	Terminal string // the terminal's id
	Agent    string
	State    string // running, idle, needsInput or finished
	At       time.Time
	Title    string
	Source   string // where the title comes from
	Activity string // what the agent does now
	Summary  string // of a finished turn
	ExitCode *int   // of a finished turn
	Session  string // the agent's own id of the session, where the report tells it
}

// ApplyTerminal applies a report about a terminal as mux0's own application would, by its
// rules about which state may follow which; but the start of a turn survives a question. If
// the agent's own events report the session, the report is ignored, and the terminal's own
// row is removed.
func (b *Sessions) ApplyTerminal(r *TerminalReport, where event.Place, rules Rules) Change {
	at, key := r.At, Key{r.Agent, r.Terminal}
	b.mu.Lock()
	defer b.mu.Unlock()
	if hasOwnSession(b, r, where) {
		c := Change{Key: key, Stale: ToldByAgent}
		if s := b.sessions[b.index.terminals[r.Terminal]]; s != nil {
			c = Change{Key: s.Key, From: s.Status, To: NeverRan, Gone: true}
			b.dropSession(s.Key)
		}
		return c
	}
	old := b.sessions[key]
	if before, ok := b.index.terminals[r.Terminal]; ok && before != key {
		// Another agent in the same terminal goes on with the terminal's state.
		if s := b.sessions[before]; s != nil {
			moved := s.copySession()
			moved.Key = key
			b.dropSession(before)
			b.putSession(old, moved)
			old = moved
		}
	}
	c := Change{Key: key}
	next := &Session{
		Key: key, Terminal: r.Terminal, Status: NeverRan, Since: at, StartedAt: at,
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
	setIfGiven(&next.AgentID, r.Session)
	if title := Fold(r.Title, maxSummary); title != "" && !at.Before(next.Machine.TitleAt) {
		next.Machine.TitleAt = at
		next.Title.Own, next.Title.Source = title, r.Source
	}
	if !rules.Off {
		applyTerminalReport(next, r, &c)
	}
	b.commitChange(old, next, &c)
	return c
}

// hasOwnSession reports whether the agent's own events report what runs in a terminal:
// under the id that the report names, or in the same process.
func hasOwnSession(b *Sessions, r *TerminalReport, where event.Place) bool {
	keys := []Key{{r.Agent, r.Session}}
	if where.PID != 0 && !where.Shared {
		keys = slices.AppendSeq(keys, maps.Keys(b.index.processes[processID{where.PID, where.Start}]))
	}
	return slices.ContainsFunc(keys, func(key Key) bool {
		s := b.sessions[key]
		return s != nil && s.Terminal == "" && s.Agent == r.Agent && s.Live()
	})
}

// applyTerminalReport follows mux0's table of states. The time of a state is
// when its turn began, or when it was entered. A report from before that time
// is dropped; one of the same time is not.
func applyTerminalReport(s *Session, r *TerminalReport, c *Change) {
	at := r.At
	if at.Before(terminalStateTime(s)) {
		c.Stale = BeforeTerminalState
		return
	}
	if !s.Live() {
		s.reviveSession()
	}
	n := &input{ev: &event.Event{Agent: r.Agent, Message: r.Summary}, at: at}
	switch r.State {
	case "running":
		if !s.Turn.Open() {
			s.openTurn(n, false)
			c.TurnStarted = true
		}
		s.Asks = nil
		s.Machine.Activity = Fold(r.Activity, maxSummary)
		s.Machine.setBase(Running, at)
	case "idle":
		if s.Machine.Base.Finished() && len(s.Asks) == 0 {
			c.Stale = ResultStays
			return
		}
		if s.Turn.Open() {
			s.closeTurn(at, Interrupted) // its end was not reported
		}
		s.Asks = nil
		s.Machine.Base, s.Machine.BaseSince = Idle, at // idle again is idle since now
	case "needsInput":
		if s.Machine.Base != Running || len(s.Asks) > 0 {
			c.Stale = NotRunning
			return
		}
		s.Asks = []Ask{{At: at, What: Fold(r.Activity, maxSummary)}}
	case "finished":
		if r.ExitCode == nil {
			c.Stale = NoExitCode
			return
		}
		if !s.Turn.Open() {
			s.openTurn(n, true)
		}
		s.Turn.Summary = SummaryLine(r.Summary)
		result, status := OK, Success
		if *r.ExitCode != 0 {
			result, status = ToolErrors, Failed
		}
		s.closeTurn(at, result)
		s.Machine.Base, s.Machine.BaseSince, s.ReadAt = status, at, time.Time{}
		c.TurnEnded, c.Turn = true, s.Turn
	}
}

// terminalStateTime returns the time of the terminal's state.
func terminalStateTime(s *Session) time.Time {
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
