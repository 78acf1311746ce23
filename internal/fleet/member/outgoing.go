package member

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/services"
)

const (
	// maxBacklog is the maximum number of events that wait for the fleet; the oldest are dropped.
	maxBacklog = 1_000_000
	// lookEvery is how often the backlog is checked if nothing else happens.
	lookEvery = 15 * time.Second
	pageRows  = 500
)

// sendEvents sends what is in the outbox, oldest first, and removes what the server has stored.
// What it isn't sure of is sent again: the server stores an id once.
func (r *run) sendEvents(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for attempt := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-r.stored: // more is coming: a call is an event, an outcome and often another call
			if services.Pause(later, ctx.Done()) {
				return
			}
		case <-tick.C:
		}
		r.boundBacklog(ctx)
		for r.ready.Load() && ctx.Err() == nil {
			more, err := r.sendPage(ctx)
			if err == nil {
				attempt = 0
				if !more {
					break
				}
				continue
			}
			if !r.ready.Load() || errors.Is(err, context.Canceled) {
				break // the next hello goes on
			}
			r.service.Log.Warn("events don't reach the fleet", "error", err)
			attempt++
			select {
			case <-ctx.Done():
				return
			case <-time.After(retryDelay(attempt)):
			}
		}
	}
}

// boundBacklog drops the oldest events of a full outbox.
func (r *run) boundBacklog(ctx context.Context) {
	rows, last, err := r.service.Outbox.OutboxSize(ctx)
	if err != nil || rows <= maxBacklog {
		return
	}
	if r.service.Outbox.TrimOutbox(last-maxBacklog) == nil {
		r.lost.Add(rows - maxBacklog)
	}
}

// sendPage sends the oldest part of the outbox.
func (r *run) sendPage(ctx context.Context) (more bool, err error) {
	list, missing, err := r.service.Outbox.OutboxPage(ctx, pageRows)
	if err != nil || len(list) == 0 {
		return false, err
	}
	content := r.service.Content()
	batch := newBatch()
	for i := range list {
		if list[i].Event == nil {
			continue
		}
		one, err := json.Marshal(protocol.EventOf(list[i].Event, content))
		if err != nil {
			return false, err
		}
		if len(one) > protocol.MaxMessage-1024 {
			short := protocol.EventOf(list[i].Event, false)
			short.Truncated = true
			if one, err = json.Marshal(short); err != nil {
				return false, err
			}
		}
		if batch.size()+len(one) > protocol.MaxBatch && batch.n > 0 {
			if err := r.sendBatch(ctx, batch); err != nil {
				return false, err
			}
			batch = newBatch()
		}
		batch.add(one)
	}
	if batch.n > 0 {
		if err := r.sendBatch(ctx, batch); err != nil {
			return false, err
		}
	}
	r.lost.Add(int64(missing))
	return len(list) == pageRows, r.service.Outbox.TrimOutbox(list[len(list)-1].Seq)
}

// batch is a message of events being put together.
type batch struct {
	text []byte
	n    int
}

func newBatch() *batch { return &batch{text: []byte(`{"events":[`)} }

func (b *batch) size() int { return len(b.text) }

func (b *batch) add(one []byte) {
	if b.n++; b.n > 1 {
		b.text = append(b.text, ',')
	}
	b.text = append(b.text, one...)
}

func (r *run) sendBatch(ctx context.Context, b *batch) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if _, err := r.requestBytes(ctx, protocol.UpEvents, append(b.text, "]}"...)); err != nil {
		return err
	}
	r.sent.Add(int64(b.n))
	return nil
}
