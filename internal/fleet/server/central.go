package server

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// store keeps the central journal: an SQLite file, or PostgreSQL. Both answer what a member's own
// journal answers, with the same filters.
type store interface {
	// Write stores all items or none. An event that is there already stays as it is; a
	// second outcome replaces the first.
	Write(items []journal.Item) error
	Query(ctx context.Context, f journal.Filter) iter.Seq2[journal.Stored, error]
	// Retain deletes events older than keep, and the oldest ones beyond maxBytes: first those of
	// members that take up more than twice their share, so that no one who sends a lot for long
	// displaces what others sent. It returns these members.
	Retain(now time.Time, keep time.Duration, maxBytes int64) (crowders []string, err error)
	Close() error
}

// central is the central journal. Its ids are prefixed with the member's, so that no member can
// take the id of another's event.
type central struct{ store }

// sqlite is a journal like those of members.
type sqlite struct{ *journal.Journal }

func openSQLite(path string) (sqlite, error) {
	j, err := journal.Open(path, journal.Options{Large: true})
	return sqlite{j}, err
}

func (s sqlite) Write(items []journal.Item) error {
	_, _, err := s.Journal.Write(items)
	return err
}

func (s sqlite) Retain(now time.Time, keep time.Duration, maxBytes int64) ([]string, error) {
	return s.Journal.RetainShared(now, keep, maxBytes, protocol.IDMark)
}

// checkBatch returns what is wrong with a message of events; nil: nothing.
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

// maxLog limits how many events are returned for one request; maxHidden is how many more are
// read, because some aren't shown.
const maxLog, maxHidden = 500, 64

// log reads a page of the fleet's events, or of one member's. more says that there may be others
// after the last one.
func (c central) log(ctx context.Context, member string, f journal.Filter) (list []protocol.Event, more bool, err error) {
	switch {
	case len(f.Cursors) > 0:
		return nil, false, errors.New("a question for events by their cursors")
	case member != "":
		f.ID = member + protocol.IDMark + f.ID
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
		one := protocol.EventOf(&stored, true)
		one.Host, one.Cursor = stored.Host, stored.Cursor
		_, one.ID, _ = strings.Cut(stored.ID, protocol.IDMark)
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
