package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// channel is one way of notifying you.
type channel interface {
	// show shows a notice.
	show(ctx context.Context, n *Notice) error
}

// withdrawer is a channel that can take back what it showed.
type withdrawer interface {
	withdraw(ctx context.Context, n *Notice) error
}

// replacer is a channel that replaces an earlier notice when it shows one again.
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

// job is one notice to show or to take back.
type job struct {
	notice   Notice
	withdraw bool
}

func (j job) isAbout(other job) bool { return j.notice.ID == other.notice.ID }

const (
	// queuedNotices limits what waits for one channel; tellTime limits one attempt.
	queuedNotices = 64
	tellTime      = 10 * time.Second
)

// retryAfter is how long a channel rests before each further attempt.
var retryAfter = []time.Duration{time.Second, 4 * time.Second, 16 * time.Second, time.Minute}

// channelQueue is a channel with what waits for it: the latest version of each notice. There
// is always room for taking back what was shown.
type channelQueue struct {
	name    string
	channel channel
	// isOver reports whether a notice needs telling no more.
	isOver func(n *Notice) bool
	// rest waits, and reports whether the service ends.
	rest   func(ctx context.Context, span time.Duration) (over bool)
	report func(name string, err error)
	wake   chan struct{} // something was queued

	mu    sync.Mutex
	jobs  []job
	tried bounded.Map[string, bool] // notices that were shown, or may have been
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
		name: name, channel: c, wake: make(chan struct{}, 1), rest: restFor,
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

var errQueueFull = fmt.Errorf("%d notices wait already; further ones are dropped", queuedNotices)

// put queues a job; a notice for which there is no room is dropped, which is reported.
func (l *channelQueue) put(j job) {
	if _, can := l.channel.(withdrawer); j.withdraw && !can {
		return
	}
	if _, can := l.channel.(replacer); j.notice.Again && !can {
		return
	}
	l.mu.Lock()
	full := !l.addJob(j)
	l.mu.Unlock()
	if full {
		l.note(errQueueFull)
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// addJob adds a job, replacing an older one about the same notice. The caller holds the lock.
func (l *channelQueue) addJob(j job) bool {
	at := slices.IndexFunc(l.jobs, func(old job) bool { return !old.withdraw && j.isAbout(old) })
	switch {
	case j.withdraw:
		if at >= 0 {
			l.jobs = slices.Delete(l.jobs, at, at+1)
		}
		if l.tried.Has(j.notice.ID) && !slices.ContainsFunc(l.jobs, j.isAbout) {
			l.jobs = append(l.jobs, j)
		}
	case at >= 0:
		j.notice.Again = j.notice.Again && l.jobs[at].notice.Again
		l.jobs[at] = j
	case l.waiting() >= queuedNotices:
		return false
	default:
		l.jobs = append(l.jobs, j)
	}
	return true
}

// waiting returns how many notices wait to be shown. The caller holds the lock.
func (l *channelQueue) waiting() (n int) {
	for _, j := range l.jobs {
		if !j.withdraw {
			n++
		}
	}
	return n
}

// next takes the job that has waited longest. From then on, a notice that is to be shown may
// be on the screen, so what withdraws it in the meantime is queued.
func (l *channelQueue) next() (j job, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.jobs) == 0 {
		return job{}, false
	}
	j = l.jobs[0]
	l.jobs = slices.Delete(l.jobs, 0, 1)
	if j.withdraw {
		l.tried.Delete(j.notice.ID)
	} else {
		l.tried.Put(j.notice.ID, true, keepTold)
	}
	return j, true
}

// run shows what is queued until ctx ends.
func (l *channelQueue) run(ctx context.Context) {
	for ctx.Err() == nil {
		if j, ok := l.next(); ok {
			l.work(ctx, &j)
			continue
		}
		select {
		case <-ctx.Done():
		case <-l.wake:
		}
	}
}

// work shows one notice, and tries again if that may help.
func (l *channelQueue) work(ctx context.Context, j *job) {
	for attempt := 0; ; attempt++ {
		if !j.withdraw && l.isOver(&j.notice) {
			return
		}
		err := l.sendNotice(ctx, j)
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

func (l *channelQueue) sendNotice(ctx context.Context, j *job) error {
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
