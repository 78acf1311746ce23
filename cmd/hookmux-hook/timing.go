package main

import (
	"strconv"
	"time"

	"github.com/hookmux/hookmux/internal/wire/frame"
)

// timing is the one absolute deadline of a call, at each stage. Each stage must finish before
// the next outer one: daemon, call, process, agent.
type timing struct {
	answerBy time.Time // when the daemon must have answered; zero: unknown
	giveUp   time.Time // when the call stops waiting for it
	last     time.Time // when the process answers by itself
}

// unknownWait limits the wait if neither the installer nor the catalogue says how long the
// agent waits; the agent will end this process sooner.
const unknownWait = 10 * time.Minute

// observeWait limits the wait for the acknowledgement of an observing event: the daemon
// sends it before doing anything, so a daemon that doesn't is stuck.
const observeWait = 2 * time.Second

// reachWait limits how long a deciding event waits for a daemon to come up.
const reachWait = 3 * time.Second

// waitFactor multiplies observeWait and reachWait. Only the linker sets it: tests build a
// client that also works on a busy machine.
var waitFactor = "1"

func multiplyWait(wait time.Duration) time.Duration {
	if n, err := strconv.Atoi(waitFactor); err == nil && n > 1 {
		return wait * time.Duration(n)
	}
	return wait
}

func newTiming(start time.Time, limit time.Duration) timing {
	if limit <= 0 {
		return timing{giveUp: start.Add(unknownWait), last: start.Add(unknownWait + time.Second)}
	}
	margin := frame.Margin(limit)
	return timing{
		answerBy: start.Add(limit - margin),
		giveUp:   start.Add(limit - 3*margin/4), // the rest is for deciding without the daemon
		last:     start.Add(limit - margin/4),
	}
}

// waitFrom is until when a reply to something sent now is worth waiting for.
func (t timing) waitFrom(now time.Time, observes bool) time.Time {
	if !observes {
		return t.giveUp
	}
	return earlierOf(t.giveUp, now.Add(min(multiplyWait(observeWait), t.giveUp.Sub(now)/2)))
}

// reachFrom is until when an unreachable daemon is worth waiting for.
func (t timing) reachFrom(now time.Time, observes bool) time.Time {
	if observes {
		return t.waitFrom(now, observes)
	}
	end := t.answerBy
	if end.IsZero() {
		end = t.giveUp
	}
	return now.Add(min(multiplyWait(reachWait), end.Sub(now)/2))
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
