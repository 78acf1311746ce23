package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Journal is the part of the journal that other machines read.
type Journal interface {
	Stored(ctx context.Context, f journal.Filter) iter.Seq2[journal.Stored, error]
	// Span returns the journal's own number, and the cursors of its oldest and newest event.
	Span(ctx context.Context) (identity, oldest, newest int64, err error)
}

// Limits of one page.
const (
	pageEvents = 200
	pageBytes  = 1 << 20
	maxEvent   = 2 << 20
	maxOpen    = journal.MaxCursors
)

// place is how far a machine has read the journal of another one.
type place struct {
	Journal int64 `json:"journal"` // its own number; 0: nothing was read yet
	After   int64 `json:"after"`
	// Open are cursors of events that had no outcome when they were read and may still get one, in
	// ascending order.
	Open []int64 `json:"open,omitempty"`
	// Marks are events on the way to After, in ascending order. With them the other machine checks
	// whether its journal still is the same.
	Marks []mark `json:"marks,omitempty"`
}

// mark is an event and where it was read.
type mark struct {
	Cursor int64  `json:"cursor"`
	Event  string `json:"event"`
}

// maxMarks is how many marks a place has.
const maxMarks = 16

// pass adds a mark. The older marks are, the fewer of them are kept.
func (p *place) pass(m mark) {
	list := append(slices.Clip(p.Marks), m)
	if len(list) > maxMarks {
		older := len(list) / 2
		list = slices.DeleteFunc(list, func(one mark) bool {
			at := slices.Index(list[:older], one)
			return at >= 0 && at%2 == 1
		})
	}
	p.Marks = list
}

// backTo forgets what comes after a cursor.
func (p *place) backTo(cursor int64) {
	open, _ := slices.BinarySearch(p.Open, cursor+1)
	marks, _ := slices.BinarySearchFunc(p.Marks, cursor+1, func(m mark, c int64) int { return cmp.Compare(m.Cursor, c) })
	p.Open, p.Marks = p.Open[:open], p.Marks[:marks]
}

// logPage is what the journal has after a place.
type logPage struct {
	Journal int64 `json:"journal"`
	Oldest  int64 `json:"oldest"`
	// From is where the page begins: the place, or the last one before it that is still valid in the
	// journal.
	From   int64            `json:"from"`
	Next   int64            `json:"next"` // the place after this page
	More   bool             `json:"more,omitempty"`
	Events []protocol.Event `json:"events,omitempty"`
	// Late are events from before the place that have an outcome now.
	Late []protocol.Event `json:"late,omitempty"`
}

// log reads what the journal has after a place. A machine that asks for the first time gets the
// newest events.
func (s *Server) log(ctx context.Context, params json.RawMessage) (any, *wire.Error) {
	var at place
	if bad := services.ReadParams(params, &at); bad != nil {
		return nil, bad
	}
	if at.After < 0 || len(at.Open) > maxOpen || !slices.IsSorted(at.Open) || len(at.Marks) > maxMarks ||
		!slices.IsSortedFunc(at.Marks, func(a, b mark) int { return cmp.Compare(a.Cursor, b.Cursor) }) {
		return nil, wire.Errorf(wire.CodeParams, "that isn't a place in a journal")
	}
	page, err := s.readLog(ctx, &at)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return page, nil
}

func (s *Server) readLog(ctx context.Context, at *place) (page logPage, err error) {
	identity, oldest, newest, err := s.Journal.Span(ctx)
	if err != nil {
		return page, err
	}
	page.Journal, page.Oldest, page.Next = identity, oldest, newest
	size := 0
	add := func(list []protocol.Event, one *journal.Stored) []protocol.Event {
		e, length := eventThere(one, true)
		if length > maxEvent {
			e, length = eventThere(one, false)
			e.Truncated = true
		}
		size += length
		return append(list, e)
	}
	f := journal.Filter{Before: newest + 1, Limit: pageEvents + 1, Newest: at.Journal == 0}
	if at.Journal == identity {
		if page.From, err = s.lastCommon(ctx, at, oldest, newest); err != nil {
			return page, err
		}
		at.backTo(page.From)
	} else {
		at.Open = nil
	}
	f.After = page.From
	if len(at.Open) > 0 {
		for one, err := range s.Journal.Stored(ctx, journal.Filter{Cursors: at.Open}) {
			if err != nil {
				return page, err
			}
			if one.Outcome == nil {
				continue
			}
			if page.Late = add(page.Late, &one); size > pageBytes {
				page.Next, page.More = page.From, true
				return page, nil
			}
		}
	}
	for one, err := range s.Journal.Stored(ctx, f) {
		if err != nil {
			return page, err
		}
		if len(page.Events) == pageEvents || size > pageBytes {
			page.More = !f.Newest
			break
		}
		page.Events = add(page.Events, &one)
	}
	if page.More {
		page.Next = page.From
		if n := len(page.Events); n > 0 {
			page.Next = page.Events[n-1].Cursor
		}
	}
	slices.SortFunc(page.Events, func(a, b protocol.Event) int { return cmp.Compare(a.Cursor, b.Cursor) })
	return page, nil
}

// lastCommon returns the last cursor up to which the journal is the one that was read. After a
// power failure or in a restored snapshot it diverges from some point on, with the cursors of
// events that are gone.
func (s *Server) lastCommon(ctx context.Context, at *place, oldest, newest int64) (int64, error) {
	cursors := make([]int64, len(at.Marks))
	for i, m := range at.Marks {
		cursors[i] = m.Cursor
	}
	here := map[mark]bool{}
	if len(cursors) > 0 {
		for one, err := range s.Journal.Stored(ctx, journal.Filter{Cursors: cursors}) {
			if err != nil {
				return 0, err
			}
			here[mark{one.Cursor, one.ID}] = true
		}
	}
	passes := func(m mark) bool { return here[m] || m.Cursor < oldest } // what is that old was deleted
	if n := len(at.Marks); at.After <= newest && (n == 0 || passes(at.Marks[n-1])) {
		return at.After, nil
	}
	for _, m := range slices.Backward(at.Marks) {
		if m.Cursor <= newest && passes(m) {
			return m.Cursor, nil
		}
	}
	return 0, nil
}

// eventThere returns an event as it leaves this machine, and its length on the way: escaping
// control characters makes it longer.
func eventThere(one *journal.Stored, content bool) (e protocol.Event, length int) {
	e = protocol.EventOf(one, content)
	e.Cursor = one.Cursor
	fleet.Clean(&e)
	e.Fit()
	b, _ := json.Marshal(&e) // it holds text and valid JSON
	return e, len(b)
}

// EventsStored is called when something was stored.
func (s *Server) EventsStored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.links {
		poke(one.stored)
	}
}
