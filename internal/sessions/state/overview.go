package state

import "time"

// Overview is the little of a session that those need to know who look at all of them.
type Overview struct {
	Key       Key
	LastEvent time.Time
	Status    Status
	Live      bool
	Open      bool // a turn goes on
	Waits     bool // a person must decide something
	InInbox   bool // the inbox has a request of it
	PID       int
	Start     uint64
	Shared    bool // its process serves others as well, or is the terminal's

	Transcript string
}

// IsIdle reports whether nothing goes on in it.
func (g *Overview) IsIdle() bool { return !g.Live || !g.Open && !g.Waits }

func overviewFor(s *Session) Overview {
	at := processAt(&s.Place)
	return Overview{
		Key: s.Key, LastEvent: s.LastEvent, Status: s.Status, Live: s.Live(), Open: s.Turn.Open(), Waits: s.Waits(),
		InInbox: len(s.Requests) > 0,
		PID:     at.pid, Start: at.start, Shared: s.Place.Shared || s.Place.PID <= 0,
		Transcript: s.Transcript,
	}
}
