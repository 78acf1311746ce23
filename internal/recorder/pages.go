package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/recorder/search"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Reader reads the journal. All its methods may be called at once.
type Reader struct {
	journal   *atomic.Pointer[journal.Journal] // nil inside while it cannot be opened
	catalogue *agent.Catalogue
	caughtUp  <-chan struct{}
	maxPage   int // bytes of events in one page
	indexFile string
	// maxUnindexed is how many events that are not in the index a search looks through.
	maxUnindexed int64
}

// CaughtUp is closed once what earlier daemons and hooks left is in the journal.
func (r *Reader) CaughtUp() <-chan struct{} { return r.caughtUp }

// IsOpen reports whether there is a journal.
func (r *Reader) IsOpen() bool { return r.journal.Load() != nil }

// Size returns how many bytes the journal has.
func (r *Reader) Size() int64 {
	if j := r.journal.Load(); j != nil {
		return j.Health().Bytes
	}
	return 0
}

// LimitPages makes pages smaller than they are.
func (r *Reader) LimitPages(bytes int) { r.maxPage = bytes }

// Stored goes through what fits a filter.
func (r *Reader) Stored(ctx context.Context, f journal.Filter) iter.Seq2[journal.Stored, error] {
	j := r.journal.Load()
	if j == nil {
		return func(yield func(journal.Stored, error) bool) { yield(journal.Stored{}, ErrNoJournal) }
	}
	return j.Query(ctx, f)
}

// Span returns the journal's own number, and the cursors of its oldest and newest event. Where
// it has none, oldest is behind newest.
func (r *Reader) Span(ctx context.Context) (identity, oldest, newest int64, err error) {
	j := r.journal.Load()
	if j == nil {
		return 0, 0, 0, ErrNoJournal
	}
	return j.Span(ctx)
}

// EventsSince goes through the events since a moment, oldest first.
func (r *Reader) EventsSince(ctx context.Context, since time.Time) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		for stored, err := range r.Stored(ctx, journal.Filter{Since: since}) {
			if err != nil {
				yield(nil, err)
				return
			}
			ev := r.Rebuild(&stored)
			if !yield(&ev, nil) {
				return
			}
		}
	}
}

// NewestEvents returns the events that came last, at most limit of them, oldest first.
func (r *Reader) NewestEvents(ctx context.Context, limit int) ([]event.Event, error) {
	var list []event.Event
	for stored, err := range r.Stored(ctx, journal.Filter{Newest: true, Limit: limit}) {
		if err != nil {
			return nil, err
		}
		list = append(list, r.Rebuild(&stored))
	}
	slices.Reverse(list)
	return list, nil
}

// Cursor is a place in the journal; it only ever grows.
type Cursor int64

func (c Cursor) String() string { return strconv.FormatInt(int64(c), 10) }

// ErrNoJournal means that there is no journal to read.
var ErrNoJournal = errors.New("the journal cannot be opened; `hookmux status` says why")

// ErrCursor means that a cursor cannot be read.
var ErrCursor = errors.New("no cursor")

// Position reads a cursor; an empty one is the end of what is stored.
func (r *Reader) Position(text string) (Cursor, error) {
	if text == "" {
		j := r.journal.Load()
		if j == nil {
			return 0, nil
		}
		return Cursor(j.Newest()), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is %w; take it from an event, or 0 for the beginning", text, ErrCursor)
	}
	return Cursor(n), nil
}

// Page reads stored events after a cursor and says where the next page
// begins. The end is fixed first, so that a filter nothing fits still moves
// on.
func (r *Reader) Page(ctx context.Context, at Cursor, f wire.Filter, limit int) ([]wire.Entry, Cursor, error) {
	j := r.journal.Load()
	if j == nil {
		return nil, at, ErrNoJournal
	}
	end := Cursor(j.Newest())
	if end <= at {
		return nil, at, nil
	}
	filter := r.journalFilter(f)
	filter.After, filter.Before, filter.Limit = int64(at), int64(end)+1, limit
	page, err := r.readEntries(ctx, filter, f.Text, nil)
	if err != nil {
		return nil, at, err
	}
	if page.more {
		return page.entries, page.last, nil
	}
	return page.entries, end, nil
}

// Query serves journal.query.
func (r *Reader) Query(ctx context.Context, q wire.QueryParams) (wire.QueryResult, error) {
	return r.queryOwn(ctx, q, nil)
}

// queryOwn is Query for a reader that may read some events only: the others are left out
// before events are counted, so that neither a page's length nor its end says anything about
// them. A nil owns reads all.
func (r *Reader) queryOwn(ctx context.Context, q wire.QueryParams, owns services.Owns) (wire.QueryResult, error) {
	if r.journal.Load() == nil {
		return wire.QueryResult{}, ErrNoJournal
	}
	filter, err := r.FilterOf(q)
	if err != nil {
		return wire.QueryResult{}, err
	}
	page, err := r.readEntries(ctx, filter, q.Text, owns)
	if err != nil {
		return wire.QueryResult{}, err
	}
	result := wire.QueryResult{Entries: page.entries, Unsearched: page.unsearched}
	if page.more {
		result.Next = page.last.String()
	}
	if q.Newest { // asked for the last ones, told in the order they happened
		slices.Reverse(page.entries)
	}
	if result.Entries == nil {
		result.Entries = []wire.Entry{}
	}
	return result, nil
}

// FilterOf returns a question as the journal takes it.
func (r *Reader) FilterOf(q wire.QueryParams) (journal.Filter, error) {
	filter := r.journalFilter(q.Filter)
	filter.Limit, filter.Newest = q.Limit, q.Newest
	if filter.Limit <= 0 || filter.Limit > wire.MaxQueryPage {
		filter.Limit = wire.MaxQueryPage
	}
	for _, one := range []struct {
		text string
		into *int64
	}{{q.After, &filter.After}, {q.Before, &filter.Before}} {
		if one.text == "" {
			continue
		}
		at, err := r.Position(one.text)
		if err != nil {
			return filter, err
		}
		*one.into = int64(at)
	}
	return filter, nil
}

// journalFilter translates; a kind may be a unified or a native name.
func (r *Reader) journalFilter(f wire.Filter) journal.Filter {
	out := journal.Filter{Since: f.Since, Until: f.Until, Session: f.Session, Verdict: f.Verdict, ID: f.ID,
		LogOnly: f.LogOnly}
	for _, name := range f.Agents {
		if a, ok := r.catalogue.Agent(name); ok {
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
		// Both lists would have to match; naming both means either.
		for _, a := range r.catalogue.Agents() {
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

// entryPage is a page as it was read.
type entryPage struct {
	entries    []wire.Entry
	last       Cursor
	more       bool // it ended because of its length or size
	unsearched int64
}

// readEntries reads a page: of the events with the words of text unless that is empty,
// and of those that owns allows unless that is nil.
func (r *Reader) readEntries(ctx context.Context, f journal.Filter, text string, owns services.Owns) (page entryPage,
	err error) {
	limit, size := f.Limit, 0
	if owns != nil {
		f.Limit = 0
	}
	events := r.journal.Load().Query(ctx, f)
	if text != "" {
		if events, page.unsearched, err = r.searchEvents(ctx, f, text); err != nil {
			return page, err
		}
	}
	for s, err := range events {
		if err != nil {
			return entryPage{}, err
		}
		if owns != nil && (s.Agent == wire.OwnAgent || !owns(s.Agent, s.Session, s.Cwd)) {
			continue
		}
		e := r.EntryOf(&s)
		page.entries = append(page.entries, e)
		page.last = Cursor(s.Cursor)
		size += len(e.Event)
		if page.more = len(page.entries) == limit || size > r.maxPage; page.more {
			break
		}
	}
	return page, nil
}

// EntryOf rebuilds an event from what was stored: the agent's own payload,
// redacted, read again by the catalogue.
func (r *Reader) EntryOf(s *journal.Stored) wire.Entry {
	ev := r.Rebuild(s)
	e := wire.Entry{Cursor: Cursor(s.Cursor).String(),
		Event: ev.AppendJSON(nil, event.Form{Raw: s.Body, NoBodies: true})}
	if s.Outcome != nil {
		var o wire.Outcome
		if json.Unmarshal(s.Outcome.Decision, &o) == nil {
			o.Cursor = e.Cursor
			e.Outcome = &o
		}
	}
	return e
}

// Rebuild reads a stored event again, by the catalogue as it is now.
func (r *Reader) Rebuild(s *journal.Stored) (ev event.Event) {
	defer func() {
		if recover() != nil {
			ev = event.Event{ID: s.ID, Time: s.Time, Agent: s.Agent, Native: s.Native,
				Kind: event.Kind(s.Kind), Malformed: "the stored payload cannot be read"}
		}
	}()
	ev = r.catalogue.Decode(agent.Input{ID: s.ID, Time: s.Time, Agent: s.Agent, Event: s.Native, Payload: s.Body,
		Cwd: s.Cwd, Truncated: s.Truncated})
	ev.Agent, ev.Native, ev.Kind = s.Agent, s.Native, event.Kind(s.Kind)
	ev.AgentVersion, ev.Nested = s.AgentVersion, s.Nested
	if ev.Session == "" { // a program pushed it, in another agent's words
		ev.Session = s.Session
	}
	ev.Where = event.Place{PID: s.PID, Start: s.Start, TTY: s.TTY, Pane: s.Pane, Host: s.Host}
	return ev
}

// Methods returns the methods about the journal. ctx ends when the daemon does.
func (r *Reader) Methods(ctx context.Context) map[string]services.Method {
	return map[string]services.Method{
		wire.MethodQuery: {Run: func(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
			return r.queryMethod(ctx, params, nil)
		}, RunOwn: func(params json.RawMessage, owns services.Owns) (any, *wire.Error) {
			return r.queryMethod(ctx, params, owns)
		}},
	}
}

// queryTime bounds one query.
const queryTime = 30 * time.Second

func (r *Reader) queryMethod(ctx context.Context, params json.RawMessage, owns services.Owns) (any, *wire.Error) {
	var q wire.QueryParams
	if err := services.ReadParams(params, &q); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	result, err := r.queryOwn(ctx, q, owns)
	if errors.Is(err, ErrCursor) || errors.Is(err, search.ErrNoWords) {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return result, nil
}
