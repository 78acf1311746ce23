package member

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/wire"
)

const (
	usageEvery = 10 * time.Minute
	usageFirst = 10 * time.Second // after the server took the hello
)

// keepUsage sends what agents used here, a day at a time: the fleet's journal has one event
// for each day of a machine, whose outcome is replaced until the day is over.
func (r *run) keepUsage(ctx context.Context) {
	sent := map[string][]byte{} // by day
	next := time.NewTimer(usageFirst)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		wait := usageEvery
		if !r.ready.Load() || !r.sendUsage(ctx, sent) {
			wait = usageFirst
		}
		next.Reset(wait)
	}
}

// sendUsage sends what has changed since the last time, and reports whether the server has all of
// it.
func (r *run) sendUsage(ctx context.Context, sent map[string][]byte) bool {
	now := time.Now()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.Local)
	params, err := json.Marshal(wire.UsageParams{By: []string{wire.ByAgent, wire.ByModel, wire.ByProject, wire.ByDay},
		Since: today.AddDate(0, 0, -1)})
	if err != nil {
		return true
	}
	result, bad := r.service.Daemon.Call(ctx, wire.MethodUsage, params)
	report, ok := result.(wire.UsageReport)
	if bad != nil || !ok || report.Reading != nil {
		return false // not read yet
	}
	batch := newBatch()
	changed := map[string][]byte{}
	for day, rows := range protocol.UsageByDay(&report) {
		text, err := json.Marshal(rows)
		if err != nil || bytes.Equal(text, sent[day]) {
			continue
		}
		e, err := protocol.UsageEvent(day, rows, now)
		if err != nil {
			continue
		}
		one, err := json.Marshal(e)
		if err != nil || batch.size()+len(one) > protocol.MaxMessage-1024 {
			continue
		}
		changed[day] = text
		batch.add(one)
	}
	if batch.n == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if _, err := r.requestBytes(ctx, protocol.UpEvents, append(batch.text, "]}"...)); err != nil {
		return false
	}
	for day, text := range changed {
		sent[day] = text
	}
	return true
}
