package recorder

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/recorder/search"
	"github.com/hookmux/hookmux/internal/services"
)

func indexPath(dirs paths.Dirs) string { return filepath.Join(dirs.OpenState(), "search.db") }

// indexer adds events to the search index, after the journal and at its own pace. If the
// index is behind, or can't be written, no search misses a result as long as at most
// maxUnindexed events are missing: a search reads those from the journal.
type indexer struct {
	deps   services.Deps
	reader *Reader
	wake   chan struct{}
	forget atomic.Bool // events were deleted from the journal
	index  *search.Index
	of     int64 // the journal the index is of
}

const (
	// indexAfter is how long the indexer lets events come together.
	indexAfter = 2 * time.Second
	// indexRetry is how long an index that cannot be written is left alone.
	indexRetry = time.Minute
	// indexBatch is how many events are added at once.
	indexBatch = 256
	// indexShare is the share of time the indexer works while it catches up: one
	// in so many.
	indexShare = 4
	// maxText is how much of one event can be searched for.
	maxText      = 16 << 10
	maxUnindexed = 20_000
)

func newIndexer(deps services.Deps) *indexer {
	return &indexer{deps: deps, wake: make(chan struct{}, 1)}
}

func (x *indexer) wakeUp() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

func (x *indexer) forgetLater() {
	x.forget.Store(true)
	x.wakeUp()
}

// run indexes until ctx ends.
func (x *indexer) run(ctx context.Context) {
	defer x.close()
	x.wakeUp() // what an earlier daemon left
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.wake:
		}
		if services.Pause(indexAfter, ctx.Done()) {
			return
		}
		err := x.update(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, journal.ErrClosed):
			return
		case err == nil:
			if x.deps.Problems.Any() {
				x.deps.Problems.Clear("search")
			}
			continue
		}
		what, fix := "events aren't added to the search index: "+err.Error(), "delete "+x.reader.indexFile
		if search.IsFull(err) {
			what, fix = "events aren't added to the search index, because the disk is full", "free some disk space"
		}
		x.deps.Problems.Raise("search", what, fix+"; the journal isn't affected")
		x.close()
		if services.Pause(indexRetry, ctx.Done()) {
			return
		}
		x.wakeUp()
	}
}

func (x *indexer) close() {
	if x.index != nil {
		_ = x.index.Close()
		x.index = nil
	}
}

// update brings the index up to the newest event.
func (x *indexer) update(ctx context.Context) error {
	j := x.reader.journal.Load()
	if j == nil {
		return nil // its next batch wakes us
	}
	identity, err := j.Identity(ctx)
	if err != nil {
		return err
	}
	if x.index != nil && x.of != identity {
		x.close()
	}
	if x.index == nil {
		if j.Newest() == 0 {
			return nil
		}
		if x.index, err = search.Open(x.reader.indexFile, identity); err != nil {
			return err
		}
		x.of = identity
	}
	if x.forget.Swap(false) {
		err := x.index.Forget(ctx, func(first, last int64) (map[int64]bool, error) { return j.Existing(ctx, first, last) })
		if err != nil {
			x.forget.Store(true)
			return err
		}
	}
	return x.catchUp(ctx, j)
}

// catchUp adds what is not in the index, a batch at a time with rests between.
func (x *indexer) catchUp(ctx context.Context, j *journal.Journal) error {
	for {
		span, err := x.index.Span(ctx)
		if err != nil || span.Through >= j.Newest() {
			return err
		}
		began := time.Now()
		var texts []search.Text
		through := j.Newest() // of those that exist now
		n := 0
		for s, err := range j.Query(ctx, journal.Filter{After: span.Through, Limit: indexBatch}) {
			if err != nil {
				return err
			}
			if n++; n == indexBatch {
				through = s.Cursor
			}
			if t := x.reader.searchText(&s); t.Text != "" {
				texts = append(texts, t)
			}
		}
		if err := x.index.Add(ctx, texts, through); err != nil {
			return err
		}
		if err := x.index.Shrink(ctx); err != nil {
			return err
		}
		if n == indexBatch && services.Pause((indexShare-1)*time.Since(began), ctx.Done()) {
			return ctx.Err()
		}
	}
}

// searchText returns what can be searched for of a stored event.
func (r *Reader) searchText(s *journal.Stored) search.Text {
	ev := r.Rebuild(s)
	return search.Text{Cursor: s.Cursor, Text: textOfEvent(&ev)}
}

// textOfEvent returns all text of an event: prompts, titles, commands and other input of
// tools, results, questions and plans.
func textOfEvent(ev *event.Event) string {
	var b strings.Builder
	add := func(text string) {
		if text != "" && b.Len() < maxText {
			b.WriteString(termsafe.CutBytes(text, maxText-b.Len()))
			b.WriteByte('\n')
		}
	}
	for _, text := range []string{ev.Prompt, ev.Title, ev.Message, ev.Plan, ev.Error} {
		add(text)
	}
	for _, q := range ev.Questions {
		add(q.Header)
		add(q.Text)
	}
	if t := ev.Tool; t != nil {
		add(t.Name)
		for _, list := range [][]string{t.Commands, t.Writes, t.Reads, {t.URL}} {
			for _, text := range list {
				add(text)
			}
		}
		addStrings(t.Input, add)
		addStrings(t.Output, add)
	}
	return b.String()
}

// addStrings adds the strings of a JSON value, without the keys.
func addStrings(value []byte, add func(string)) {
	switch {
	case jsontext.IsObject(value):
		_ = jsontext.Object(value, func(_, v []byte) bool { addStrings(v, add); return true })
	case jsontext.IsArray(value):
		_ = jsontext.Array(value, func(v []byte) bool { addStrings(v, add); return true })
	default:
		if text, ok := jsontext.String(value); ok {
			add(text)
		}
	}
}

// searchEvents returns the events of f with the words of text, and how many of f's events
// were not looked at.
func (r *Reader) searchEvents(ctx context.Context, f journal.Filter, text string) (
	events iter.Seq2[journal.Stored, error], unsearched int64, err error,
) {
	q, err := search.ParseQuery(text)
	if err != nil {
		return nil, 0, err
	}
	j := r.journal.Load()
	first, last, err := j.Bounds(ctx, f)
	if err != nil {
		return nil, 0, err
	}
	identity, err := j.Identity(ctx)
	if err != nil {
		return nil, 0, err
	}
	index, err := search.OpenReadOnly(r.indexFile, identity)
	if err != nil {
		index = nil // damaged: the daemon makes it again
	}
	var has search.Span
	if index != nil {
		if has, err = index.Span(ctx); err != nil {
			index.Close()
			return nil, 0, err
		}
	}
	one := &textSearch{reader: r, journal: j, filter: f, query: q, index: index}
	one.indexed = [2]int64{max(first, has.First+1), min(last, has.Through)}
	one.tail = [2]int64{max(first, has.Through+1, last-r.maxUnindexed+1), last}
	count := func(first, last int64) int64 { return max(0, last-first+1) }
	unsearched = count(first, last) - count(one.indexed[0], one.indexed[1]) - count(one.tail[0], one.tail[1])
	return one.run(ctx), unsearched, nil
}

// textSearch is one search.
type textSearch struct {
	reader        *Reader
	journal       *journal.Journal
	filter        journal.Filter
	query         search.Query
	index         *search.Index // nil where there is none
	indexed, tail [2]int64      // cursors to look at, ends included
}

func (s *textSearch) run(ctx context.Context) iter.Seq2[journal.Stored, error] {
	return func(yield func(journal.Stored, error) bool) {
		if s.index != nil {
			defer s.index.Close()
		}
		left := s.filter.Limit
		hand := func(one journal.Stored, err error) bool {
			if !yield(one, err) || err != nil {
				return false
			}
			left--
			return s.filter.Limit == 0 || left > 0
		}
		parts := []func(context.Context, func(journal.Stored, error) bool) bool{s.searchIndex, s.searchTail}
		if s.filter.Newest {
			slices.Reverse(parts)
		}
		for _, part := range parts {
			if !part(ctx, hand) {
				return
			}
		}
	}
}

// searchIndex hands out the events that the index finds.
func (s *textSearch) searchIndex(ctx context.Context, hand func(journal.Stored, error) bool) bool {
	for from, to := s.indexed[0], s.indexed[1]; from <= to; {
		found, err := s.index.Match(ctx, s.query, from, to, s.filter.Newest, journal.MaxCursors)
		if err != nil {
			return hand(journal.Stored{}, err)
		}
		if len(found) == 0 {
			return true
		}
		if end := found[len(found)-1]; s.filter.Newest {
			to = end - 1
		} else {
			from = end + 1
		}
		slices.Sort(found)
		f := s.filter
		f.Cursors, f.Limit = found, 0
		for one, err := range s.journal.Query(ctx, f) {
			if !hand(one, err) {
				return false
			}
		}
		if len(found) < journal.MaxCursors {
			return true
		}
	}
	return true
}

// searchTail hands out what fits among the events that are not in the index.
func (s *textSearch) searchTail(ctx context.Context, hand func(journal.Stored, error) bool) bool {
	if s.tail[0] > s.tail[1] {
		return true
	}
	f := s.filter
	f.After, f.Before, f.Limit = s.tail[0]-1, s.tail[1]+1, 0
	var events []journal.Stored
	var texts []search.Text
	flush := func() bool {
		found, err := search.MatchTexts(ctx, s.query, texts)
		if err != nil {
			return hand(journal.Stored{}, err)
		}
		for i := range events {
			if len(found) > 0 && events[i].Cursor == found[0] {
				found = found[1:]
				if !hand(events[i], nil) {
					return false
				}
			}
		}
		clear(events)
		events, texts = events[:0], texts[:0]
		return true
	}
	for one, err := range s.journal.Query(ctx, f) {
		if err != nil {
			return hand(journal.Stored{}, err)
		}
		if t := s.reader.searchText(&one); t.Text != "" {
			events, texts = append(events, one), append(texts, t)
		}
		if len(events) == indexBatch && !flush() {
			return false
		}
	}
	return flush()
}
