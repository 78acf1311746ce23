//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// How ids of calls begin: those of the hook client, and those of frames that
// are sent as a plugin sends them.
const (
	clientPrefix = "client-"
	callPrefix   = "plugin-"
)

// ownAnswer is from when on the client may have answered by itself, without a
// word about it: its time was nearly over.
const ownAnswer = 50 * time.Second

// load calls hooks without end: harmless and dangerous calls through the real
// client, and reports as a plugin sends them.
type load struct {
	world   *world
	running sync.RWMutex // held by each call; pause takes it all
	next    atomic.Int64
	over    chan struct{}
	done    sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	counts loadCounts
	slow   time.Duration // the slowest call through the client
}

// loadCounts holds how many calls had which result.
type loadCounts struct {
	Harmless, Dangerous, Reports int
	Denied, Asked                int // of the dangerous ones
	Passed, Held                 int // of the harmless ones
	ByDaemon                     int // calls through the client that a daemon answered
	Slowest                      time.Duration
}

func newLoad(w *world) *load {
	return &load{world: w, over: make(chan struct{}), random: rand.New(rand.NewPCG(w.options.Seed, 77))}
}

// start begins to call.
func (l *load) start() {
	for _, dangerous := range []bool{true, false} {
		l.repeat(l.world.options.Pace, func() { l.makeOne(dangerous) })
	}
	l.repeat(l.world.options.Pace, l.sendReport)
}

func (l *load) repeat(pause time.Duration, call func()) {
	l.done.Go(func() {
		for {
			select {
			case <-l.over:
				return
			case <-time.After(pause):
			}
			l.running.RLock()
			call()
			l.running.RUnlock()
		}
	})
}

// pause waits until no call is under way and lets none begin until resume.
func (l *load) pause() (resume func()) {
	l.running.Lock()
	return l.running.Unlock
}

func (l *load) stop() {
	close(l.over)
	l.done.Wait()
}

// choose returns the next call of a kind.
func (l *load) choose(list []recordedCall, prefix string) hookCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := fmt.Sprintf("%s%d-%06d", prefix, l.world.options.Number, l.next.Add(1))
	call := &list[l.random.IntN(len(list))]
	return call.instantiate(id, l.world.Dirs.Home, fmt.Sprintf("%s-%d", call.Agent, l.random.IntN(5)), l.random)
}

// makeOne makes one call through the client and compares the answer with what
// the guards promise.
func (l *load) makeOne(dangerous bool) string {
	w := l.world
	list := w.recording.harmless
	if dangerous {
		list = w.recording.dangerous
	}
	call := l.choose(list, clientPrefix)
	began := time.Now()
	got, byDaemon, err := w.callHook(call)
	took := time.Since(began)
	if err != nil {
		w.fail(call.describe(), "an answer", err.Error())
		return ""
	}
	if byDaemon = byDaemon && took < ownAnswer; byDaemon {
		w.acknowledged.noteAcknowledged(call.id)
	}
	decision := decisionOf(got)
	if dangerous && !isStopped(call.agent, decision) {
		w.fail(call.describe(), "deny or ask", decision+" after "+took.String()+": "+got.String())
	}
	if !dangerous && decision == "allow" {
		w.fail(call.describe(), "neutral, deny or ask", decision+": "+got.String())
	}
	l.countCall(dangerous, decision, byDaemon, took)
	return decision
}

func (l *load) countCall(dangerous bool, decision string, byDaemon bool, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.counts
	switch {
	case dangerous && decision == "ask":
		c.Asked++
	case dangerous:
		c.Denied++
	case decision == "deny" || decision == "ask":
		c.Held++
	default:
		c.Passed++
	}
	if dangerous {
		c.Dangerous++
	} else {
		c.Harmless++
	}
	if byDaemon {
		c.ByDaemon++
	}
	c.Slowest = max(c.Slowest, took)
	l.slow = max(l.slow, took)
}

// takeSlowest returns the slowest call since the last look.
func (l *load) takeSlowest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	slowest := l.slow
	l.slow = 0
	return slowest
}

func (l *load) currentCounts() loadCounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

func (c *hookCall) describe() string {
	if c.dangerous {
		return fmt.Sprintf("call %s: %s %s of %q", c.id, c.agent, c.event, c.command)
	}
	return fmt.Sprintf("call %s: a harmless %s %s", c.id, c.agent, c.event)
}

// sendReport sends an event that needs no decision, as a plugin does, and notes it once it is
// acknowledged.
func (l *load) sendReport() {
	call := l.choose(l.world.recording.reports, callPrefix)
	if l.world.sendFrame(call, version.String) {
		l.world.acknowledged.noteAcknowledged(call.id)
	}
	l.mu.Lock()
	l.counts.Reports++
	l.mu.Unlock()
}

// sendFrame sends one call as a frame and reports whether it was answered.
func (w *world) sendFrame(call hookCall, clientVersion string) bool {
	_, err := sandbox.SendFrame(w.Dirs.Socket(), &frame.Request{
		ID: call.id, Agent: call.agent, Event: call.event, Cwd: w.Project,
		Version: clientVersion, Payload: call.payload, Env: []byte(strings.Join(w.Env, "\x00")),
	}, 3*time.Second)
	return err == nil
}
