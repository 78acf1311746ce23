package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// channel is one way of telling a person.
type channel interface {
	// show tells a notice.
	show(ctx context.Context, n *Notice) error
}

// withdrawer is a channel that can take back what it told.
type withdrawer interface {
	withdraw(ctx context.Context, n *Notice) error
}

// replacer is a channel that shows a notice again in the place of the earlier one.
type replacer interface{ replaces() }

// errAbsent says that a channel has nothing to speak to on this machine.
var errAbsent = errors.New("not here")

// absent says what is not here.
func absent(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errAbsent, fmt.Sprintf(format, args...))
}

// passingError is one that may be over a moment later.
type passingError struct {
	err   error
	after time.Duration // not before; 0: as usual
}

func (e *passingError) Error() string { return e.err.Error() }
func (e *passingError) Unwrap() error { return e.err }

// job is one notice to tell or to take back.
type job struct {
	notice   Notice
	withdraw bool
}

const (
	// queuedJobs bounds what waits for one channel; tellTime one attempt.
	queuedJobs = 64
	tellTime   = 10 * time.Second
)

// retryAfter is how long a channel rests before each further attempt.
var retryAfter = []time.Duration{time.Second, 4 * time.Second, 16 * time.Second, time.Minute}

// channelQueue is a channel with what waits to be told by it.
type channelQueue struct {
	name    string
	channel channel
	jobs    chan job
	// isOver reports whether a notice needs telling no more.
	isOver func(n *Notice) bool
	// rest waits, and reports whether the service ends.
	rest   func(ctx context.Context, span time.Duration) (over bool)
	report func(name string, err error)

	mu    sync.Mutex
	state queueState
}

// queueState is how a channel did so far.
type queueState struct {
	told   int
	failed int
	last   error // of the last attempt; nil: it worked, or there was none
}

func newChannelQueue(name string, c channel) *channelQueue {
	return &channelQueue{
		name: name, channel: c, jobs: make(chan job, queuedJobs), rest: restFor,
		isOver: func(*Notice) bool { return false }, report: func(string, error) {},
	}
}

func restFor(ctx context.Context, span time.Duration) bool {
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-t.C:
		return false
	}
}

var errQueueFull = fmt.Errorf("%d notices wait already; further ones are dropped", queuedJobs)

// put queues a job; one that finds no room is dropped, and that is said.
func (l *channelQueue) put(j job) {
	if _, can := l.channel.(withdrawer); j.withdraw && !can {
		return
	}
	if _, can := l.channel.(replacer); j.notice.Again && !can {
		return
	}
	select {
	case l.jobs <- j:
	default:
		l.note(errQueueFull)
	}
}

// run tells what is queued until ctx ends.
func (l *channelQueue) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-l.jobs:
			l.work(ctx, &j)
		}
	}
}

// work tells one notice, and tries again where that may help.
func (l *channelQueue) work(ctx context.Context, j *job) {
	for attempt := 0; ; attempt++ {
		if !j.withdraw && l.isOver(&j.notice) {
			return
		}
		err := l.tell(ctx, j)
		var passing *passingError
		if err == nil || !errors.As(err, &passing) || attempt == len(retryAfter) || ctx.Err() != nil {
			if ctx.Err() == nil && (err != nil || !j.withdraw) {
				l.note(err)
			}
			return
		}
		if l.rest(ctx, max(retryAfter[attempt], passing.after)) {
			return
		}
	}
}

func (l *channelQueue) tell(ctx context.Context, j *job) error {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	if j.withdraw {
		return l.channel.(withdrawer).withdraw(ctx, &j.notice)
	}
	return l.channel.show(ctx, &j.notice)
}

// note keeps how an attempt ended.
func (l *channelQueue) note(err error) {
	l.mu.Lock()
	if l.state.last = err; err == nil {
		l.state.told++
	} else {
		l.state.failed++
	}
	l.mu.Unlock()
	l.report(l.name, err)
}

func (l *channelQueue) current() queueState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}
