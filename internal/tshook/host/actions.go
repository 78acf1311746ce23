package host

import (
	"fmt"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/tshook"
)

// actionLog records what files did, on a goroutine of its own: a file must not wait for a
// disk, and one that does the same thing a thousand times a second is recorded once, with the
// count.
type actionLog struct {
	write   func(one tshook.HookAction, times int)
	in      chan tshook.HookAction
	end     chan struct{}
	stopped chan struct{}
	start   sync.Once

	mu   sync.Mutex
	lost int
}

const (
	maxActions = 1024
	// gatherActions is how long equal actions are counted before they are written.
	gatherActions = 500 * time.Millisecond
)

func newActionLog(write func(tshook.HookAction, int)) *actionLog {
	return &actionLog{
		write: write, in: make(chan tshook.HookAction, maxActions), end: make(chan struct{}),
		stopped: make(chan struct{}),
	}
}

func (l *actionLog) addAction(one tshook.HookAction) {
	l.start.Do(func() { go l.writeActions() })
	select {
	case l.in <- one:
	default:
		l.mu.Lock()
		l.lost++
		l.mu.Unlock()
	}
}

// stopWriting writes what is left and waits for it.
func (l *actionLog) stopWriting() {
	started := true
	l.start.Do(func() { started = false })
	close(l.end)
	if started {
		<-l.stopped
	}
}

// actionCounts are actions with how often they happened, in order.
type actionCounts struct {
	count map[tshook.HookAction]int
	order []tshook.HookAction
}

func (c *actionCounts) addAction(one tshook.HookAction) {
	if c.count[one] == 0 {
		c.order = append(c.order, one)
	}
	c.count[one]++
}

// writeCounts writes the counts and starts over.
func (l *actionLog) writeCounts(c *actionCounts) {
	for _, one := range c.order {
		l.write(one, c.count[one])
	}
	clear(c.count)
	c.order = c.order[:0]
	l.mu.Lock()
	lost := l.lost
	l.lost = 0
	l.mu.Unlock()
	if lost > 0 {
		detail := fmt.Sprintf("%d actions came too fast to be written down one by one", lost)
		l.write(tshook.HookAction{Action: "more", Detail: detail}, lost)
	}
}

func (l *actionLog) writeActions() {
	defer close(l.stopped)
	counts := &actionCounts{count: map[tshook.HookAction]int{}}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case one := <-l.in:
			if len(counts.order) == 0 {
				timer.Reset(gatherActions)
			}
			counts.addAction(one)
			if len(counts.order) >= maxActions {
				l.writeCounts(counts)
			}
		case <-timer.C:
			l.writeCounts(counts)
		case <-l.end:
			for {
				select {
				case one := <-l.in:
					counts.addAction(one)
					continue
				default:
				}
				break
			}
			l.writeCounts(counts)
			return
		}
	}
}
