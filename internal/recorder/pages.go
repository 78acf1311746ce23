package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// cursor is a place in the journal; it only ever grows.
type cursor int64

func (c cursor) String() string { return strconv.FormatInt(int64(c), 10) }

var errNoJournal = errors.New("the journal cannot be opened; `hookmux status` says why")

var errCursor = errors.New("no cursor")

// position reads a cursor; an empty one is the end of what is stored.
func (d *drain) position(text string) (cursor, error) {
	if text == "" {
		j := d.book.Load()
		if j == nil {
			return 0, nil
		}
		return cursor(j.Newest()), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is %w; take it from an event, or 0 for the beginning", text, errCursor)
	}
	return cursor(n), nil
}

// page reads stored events after a cursor and says where the next page
// begins. The end is fixed first, so that a filter nothing fits still moves
// on.
func (d *drain) page(ctx context.Context, at cursor, f wire.Filter, limit int) ([]wire.Entry, cursor, error) {
	j := d.book.Load()
	if j == nil {
		return nil, at, errNoJournal
	}
	end := cursor(j.Newest())
	if end <= at {
		return nil, at, nil
	}
	filter := d.filter(f)
	filter.After, filter.Before, filter.Limit = int64(at), int64(end)+1, limit
	entries, last, cut, err := d.entries(ctx, filter)
	if err != nil {
		return nil, at, err
	}
	if len(entries) == limit || cut {
		return entries, last, nil
	}
	return entries, end, nil
}

// query serves journal.query.
func (d *drain) query(ctx context.Context, q wire.QueryParams) (wire.QueryResult, error) {
	if d.book.Load() == nil {
		return wire.QueryResult{}, errNoJournal
	}
	limit := q.Limit
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	filter := d.filter(q.Filter)
	filter.Limit, filter.Newest = limit, q.Newest
	if q.After != "" {
		at, err := d.position(q.After)
		if err != nil {
			return wire.QueryResult{}, err
		}
		filter.After = int64(at)
	}
	entries, last, cut, err := d.entries(ctx, filter)
	if err != nil {
		return wire.QueryResult{}, err
	}
	result := wire.QueryResult{Entries: entries}
	if q.Newest { // asked for the last ones, told in the order they happened
		for i, j := 0, len(entries)-1; i < j; i, j = i+1, j-1 {
			entries[i], entries[j] = entries[j], entries[i]
		}
	} else if len(entries) == limit || cut {
		result.Next = last.String()
	}
	if result.Entries == nil {
		result.Entries = []wire.Entry{}
	}
	return result, nil
}

// filter translates; a kind may be a unified or a native name.
func (d *drain) filter(f wire.Filter) journal.Filter {
	out := journal.Filter{Since: f.Since, Until: f.Until, Session: f.Session, Verdict: f.Verdict}
	for _, name := range f.Agents {
		if a, ok := d.deps.Catalogue.Agent(name); ok {
			name = a.Name
		}
		out.Agents = append(out.Agents, name)
	}
	if f.Tool != "" {
		out.Tools = []string{f.Tool}
	}
	for _, k := range f.Kinds {
		if event.Kind(k).Known() {
			out.Kinds = append(out.Kinds, k)
		} else {
			out.Natives = append(out.Natives, k)
		}
	}
	if len(out.Kinds) > 0 && len(out.Natives) > 0 {
		// Both lists would have to fit; a person who names both means either.
		for _, a := range d.deps.Catalogue.Agents() {
			for _, e := range a.Events {
				if slices.Contains(out.Kinds, string(e.Kind)) {
					out.Natives = append(out.Natives, e.Name)
				}
			}
		}
		out.Kinds = nil
	}
	return out
}

// maxPage bounds the bytes of one page, so that large events do not make a
// huge answer.
const maxPage = 8 << 20

// entries reads a page. cut says that it broke off because of its size, with
// more to come behind last.
func (d *drain) entries(ctx context.Context, f journal.Filter) (entries []wire.Entry, last cursor, cut bool, err error) {
	size := 0
	for s, err := range d.book.Load().Query(ctx, f) {
		if err != nil {
			return nil, 0, false, err
		}
		e := d.entry(&s)
		entries = append(entries, e)
		last = cursor(s.Cursor)
		if size += len(e.Event); size > d.maxPage {
			return entries, last, true, nil
		}
	}
	return entries, last, false, nil
}

// entry rebuilds an event from what was stored: the agent's own payload,
// redacted, read again by the catalogue.
func (d *drain) entry(s *journal.Stored) wire.Entry {
	ev := d.rebuild(s)
	e := wire.Entry{Cursor: cursor(s.Cursor).String(), Event: ev.AppendJSON(nil, event.Form{Raw: s.Body, NoBodies: true})}
	if s.Outcome != nil {
		var o wire.Outcome
		if json.Unmarshal(s.Outcome.Decision, &o) == nil {
			o.Cursor = e.Cursor
			e.Outcome = &o
		}
	}
	return e
}

func (d *drain) rebuild(s *journal.Stored) (ev event.Event) {
	defer func() {
		if recover() != nil {
			ev = event.Event{ID: s.ID, Time: s.Time, Agent: s.Agent, Native: s.Native, Kind: event.Kind(s.Kind), Malformed: "the stored payload cannot be read"}
		}
	}()
	ev = d.deps.Catalogue.Decode(agent.Input{ID: s.ID, Time: s.Time, Agent: s.Agent, Event: s.Native, Payload: s.Body, Cwd: s.Cwd, Truncated: s.Truncated})
	ev.Agent, ev.Native, ev.Kind = s.Agent, s.Native, event.Kind(s.Kind)
	ev.AgentVersion, ev.Nested = s.AgentVersion, s.Nested
	ev.Where = event.Place{PID: s.PID, Start: s.Start, TTY: s.TTY, Pane: s.Pane, Host: s.Host}
	return ev
}

// eventsSince is what the journal knows since a time, oldest first.
func (d *drain) eventsSince(ctx context.Context, since time.Time) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		filter := d.filter(wire.Filter{Since: since})
		book := d.book.Load()
		if book == nil {
			return
		}
		for stored, err := range book.Query(ctx, filter) {
			if err != nil {
				yield(nil, err)
				return
			}
			if ev := d.rebuild(&stored); !yield(&ev, nil) {
				return
			}
		}
	}
}
