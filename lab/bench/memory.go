//go:build unix

package main

import (
	"context"
	"fmt"
	"time"
)

const (
	fewEvents  = 20_000
	manyEvents = 200_000
)

// memory measures whether the daemon grows with what passes through it.
func (b *bench) memory(ctx context.Context) error {
	p, err := b.startDaemon(ctx, "memory", nil)
	if err != nil {
		return err
	}
	defer p.stop()
	l, err := b.newLoad(ctx, p)
	if err != nil {
		return err
	}
	idle, err := residentOf(p)
	if err != nil {
		return err
	}
	few, err := residentAfter(ctx, p, l, fewEvents)
	if err != nil {
		return err
	}
	many, err := residentAfter(ctx, p, l, manyEvents-fewEvents)
	if err != nil {
		return err
	}
	if err := p.heard(ctx, manyEvents); err != nil {
		return err
	}
	b.table.atMost("memory: daemon before the first event", idle/1e6, 40, "MB")
	b.table.note("memory: daemon after 20,000 events", few/1e6, "MB")
	b.table.note("memory: daemon after 200,000 events", many/1e6, "MB")
	// Part of it is the program itself: pages of its file, which every hookmux shares
	// and the system takes back when it needs them.
	if own, err := kilobytesIn(fmt.Sprintf("/proc/%d/smaps_rollup", p.pid()), "Anonymous:"); err == nil {
		b.table.note("memory: of that the daemon's own, without its program", float64(own)/1e6, "MB")
	}
	b.table.atMost("memory: 200,000 ÷ 20,000 events", many/few, 1.15, "×")
	return nil
}

// residentAfter makes calls, lets the daemon come to rest and looks at it a few
// times: a garbage collector's heap is never the same size twice.
func residentAfter(ctx context.Context, p *place, l *load, calls int64) (float64, error) {
	if _, err := l.run(toDaemon(p), until{calls: calls}); err != nil {
		return 0, err
	}
	if err := p.drained(ctx); err != nil {
		return 0, err
	}
	return residentOf(p)
}

// residentOf returns the daemon's memory, looked at a few times.
func residentOf(p *place) (float64, error) {
	var seen []float64
	for range 9 {
		time.Sleep(300 * time.Millisecond)
		_, resident, err := usage(p.pid())
		if err != nil {
			return 0, err
		}
		seen = append(seen, float64(resident))
	}
	return median(seen), nil
}
