package server

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// store keeps the central journal: a file of SQLite, or PostgreSQL. What both are asked is
// what a member's own journal is asked, with the same filters.
type store interface {
	// Write stores all items or none. An event that is there already stays as it is; a
	// second outcome replaces the first.
	Write(items []journal.Item) error
	Query(ctx context.Context, f journal.Filter) iter.Seq2[journal.Stored, error]
	// Retain deletes events older than keep, and the oldest ones beyond maxBytes: first those
	// of members that take up more than twice their part, so that nobody who sends a lot for
	// long drives out what others did.
	// It returns these members.
	Retain(now time.Time, keep time.Duration, maxBytes int64) (crowders []string, err error)
	Close() error
}

// central is the central journal. Its ids have the member's in front, so that no member
// can take the id of another's event.
type central struct{ store }

// sqlite is a journal like those of members.
type sqlite struct{ *journal.Journal }

func openSQLite(path string) (sqlite, error) {
	j, err := journal.Open(path, journal.Options{})
	return sqlite{j}, err
}

func (s sqlite) Write(items []journal.Item) error {
	_, _, err := s.Journal.Write(items)
	return err
}

func (s sqlite) Retain(now time.Time, keep time.Duration, maxBytes int64) ([]string, error) {
	return s.Journal.RetainShared(now, keep, maxBytes, idMark)
}

// idMark stands between a member and the id of its event.
const idMark = "/"

// checkBatch says what is wrong with a message of events; nil: nothing.
func checkBatch(b *protocol.Batch) error {
	if len(b.Events) == 0 {
		return errors.New("a message without events")
	}
	for i := range b.Events {
		if err := b.Events[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// itemsOf returns a member's events as the journal takes them.
func itemsOf(id, name string, b *protocol.Batch, items []journal.Item) []journal.Item {
	for i := range b.Events {
		e := &b.Events[i]
		key := id + idMark + e.ID
		items = append(items, journal.Item{Row: &journal.Row{
			ID: key, Time: e.Time, Agent: e.Agent, Kind: e.Kind, Native: e.Native, Tool: e.Tool, Session: e.Session,
			Cwd: e.Cwd, AgentVersion: e.Version, Caller: e.Caller, Host: name, Nested: e.Nested, Truncated: e.Truncated,
			Body: e.Body,
		}})
		if o := e.Outcome; o != nil {
			items = append(items, journal.Item{Outcome: &journal.Outcome{
				ID: key, Time: o.Time, Took: time.Duration(o.TookUS) * time.Microsecond, Verdict: o.Verdict, By: o.By,
				Degraded: o.Degraded, Decision: o.Decision,
			}})
		}
	}
	return items
}

// eventOf returns a row of the journal as it travels.
func eventOf(s *journal.Stored) protocol.Event {
	_, id, _ := strings.Cut(s.ID, idMark)
	e := protocol.Event{Host: s.Host, Cursor: s.Cursor, ID: id, Time: s.Time, Agent: s.Agent, Kind: s.Kind, Native: s.Native, Tool: s.Tool,
		Session: s.Session, Cwd: s.Cwd, Version: s.AgentVersion, Caller: s.Caller, Nested: s.Nested, Truncated: s.Truncated,
		Body: json.RawMessage(s.Body)}
	if o := s.Outcome; o != nil {
		e.Outcome = &protocol.Outcome{Time: o.Time, TookUS: o.Took.Microseconds(), Verdict: o.Verdict, By: o.By,
			Degraded: o.Degraded, Decision: o.Decision}
	}
	return e
}

// maxLog bounds how many events one question is answered with; maxHidden is how many more
// are read, because some aren't shown.
const maxLog, maxHidden = 500, 64

// log reads a page of the fleet's events, or of one member's. more says that there may be
// others behind the last one.
func (c central) log(ctx context.Context, member string, f journal.Filter) (list []protocol.Event, more bool, err error) {
	switch {
	case len(f.Cursors) > 0:
		return nil, false, errors.New("a question for events by their cursors")
	case member != "":
		f.ID = member + idMark + f.ID
	case f.ID != "":
		return nil, false, mistake("the event %.40q needs its machine's name", f.ID)
	}
	if f.Limit <= 0 || f.Limit > maxLog {
		f.Limit = maxLog
	}
	limit, size, read := f.Limit, 0, 0
	usage := slices.Contains(f.Natives, wire.OwnUsage)
	f.Limit += maxHidden
	for stored, err := range c.Query(ctx, f) {
		if err != nil {
			return nil, false, mistake("the fleet's journal can't be read: %w", err)
		}
		read++
		if !usage && stored.Agent == wire.OwnAgent && stored.Native == wire.OwnUsage { // no machine's log has it
			continue
		}
		if len(list) == limit {
			return list, true, nil
		}
		one := eventOf(&stored)
		size += len(one.Body) + 512
		if one.Outcome != nil {
			size += len(one.Outcome.Decision)
		}
		if size > protocol.MaxMessage-64<<10 && len(list) > 0 {
			return list, true, nil
		}
		list = append(list, one)
	}
	return list, read == f.Limit, nil
}
