//go:build unix

package main

import (
	"context"
	"fmt"
	"time"
)

// phase is how long one side is loaded before it is the other's turn.
const phase = time.Second

// side holds the work of one of the two servers so far.
type side struct {
	events int
	took   time.Duration
	cpu    time.Duration // its own
	load   time.Duration // ours
	rates  []float64     // events per second, by turn
}

// rate measures how many calls the daemon takes, with everything in the journal,
// against the echo server.
func (b *bench) rate(ctx context.Context) error {
	echo, err := b.startEcho("rate-echo")
	if err != nil {
		return err
	}
	defer echo.stop()
	p, err := b.startDaemon(ctx, "rate", nil)
	if err != nil {
		return err
	}
	defer p.stop()
	l, err := b.newLoad(ctx, p)
	if err != nil {
		return err
	}
	var (
		daemon, plain side
		acknowledged  []string
		catchUp       time.Duration
	)
	for turn := range b.seconds + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		span := phase
		if turn == 0 {
			span /= 2 // to warm up
		}
		if _, err := plain.turn(l, toEcho(echo), echo.cmd.Process.Pid, span, nil); err != nil {
			return err
		}
		ids, err := daemon.turn(l, toDaemon(p), p.pid(), span, func() error {
			began := time.Now()
			defer func() { catchUp += time.Since(began) }()
			return p.drained(ctx)
		})
		if err != nil {
			return err
		}
		acknowledged = append(acknowledged, ids...)
		if turn == 0 {
			daemon, plain, catchUp = side{}, side{}, 0
		}
	}
	if err := p.heard(ctx, len(acknowledged)); err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	if err := p.stored(ctx, acknowledged); err != nil {
		return err
	}
	b.table.note("rate: echo server", median(plain.rates), "events/s")
	b.table.note("rate: daemon, all in the journal", median(daemon.rates), "events/s")
	b.table.note("rate: part of the daemon's time spent catching up", 100*catchUp.Seconds()/daemon.took.Seconds(), "%")
	b.table.note("rate: cpu of the echo server per event", micros(plain.cpu)/float64(plain.events), "µs")
	b.table.note("rate: cpu of the daemon per event", micros(daemon.cpu)/float64(daemon.events), "µs")
	b.table.note("rate: cpu of the load per event, on echo", micros(plain.load)/float64(plain.events), "µs")
	b.table.note("rate: cpu of the load per event, on daemon", micros(daemon.load)/float64(daemon.events), "µs")
	b.table.atLeast("rate: daemon ÷ echo server", median(ratios(daemon.rates, plain.rates)), 0.40, "×")
	return nil
}

func (b *bench) newLoad(ctx context.Context, p *place) (*load, error) {
	info, err := p.client.Info(ctx)
	if err != nil {
		return nil, err
	}
	mix, err := b.newMix(info.Version, p.Home)
	if err != nil {
		return nil, err
	}
	return &load{mix: mix}, nil
}

// turn loads one server for a while; the time that after takes is included.
func (s *side) turn(l *load, t *target, pid int, span time.Duration, after func() error) ([]string, error) {
	before, _, err := usage(pid)
	if err != nil {
		return nil, err
	}
	own, began := ownCPU(), time.Now()
	ids, err := l.run(t, until{moment: began.Add(span)})
	if err != nil {
		return nil, err
	}
	own = ownCPU() - own
	if after != nil {
		if err := after(); err != nil {
			return nil, err
		}
	}
	took := time.Since(began)
	now, _, err := usage(pid)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%s answered nothing", t.socket)
	}
	s.events += len(ids)
	s.took += took
	s.cpu += now - before
	s.load += own
	s.rates = append(s.rates, float64(len(ids))/took.Seconds())
	return ids, nil
}
