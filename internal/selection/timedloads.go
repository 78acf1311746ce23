package selection

import (
	"sync"
	"time"
)

// timedLoads runs what reads project folders: one at a time per key, and never for longer
// than a moment while an event waits. Otherwise a folder on a dead network disk would hold
// up every agent.
type timedLoads struct {
	// run starts one. A daemon that stops waits for it, but not for long: nothing can end a
	// read from a disk that doesn't answer.
	run func(func())

	mu   sync.Mutex
	open map[string]*timedLoad
}

type timedLoad struct {
	done  chan struct{}
	since time.Time
}

const (
	// patienceKnown is how long an event waits for a new look when an older
	// one is there, patienceNew when there is none.
	patienceKnown = 250 * time.Millisecond
	patienceNew   = 2 * time.Second
)

// runTimed calls fn unless it is running already, and waits for it as long as
// patience allows. False means that it goes on behind.
func (l *timedLoads) runTimed(key string, known bool, fn func()) bool {
	patience := patienceNew
	if known {
		patience = patienceKnown
	}
	l.mu.Lock()
	if l.open == nil {
		l.open = map[string]*timedLoad{}
	}
	one, running := l.open[key]
	if !running {
		one = &timedLoad{done: make(chan struct{}), since: time.Now()}
		l.open[key] = one
		l.run(func() {
			defer func() {
				l.mu.Lock()
				delete(l.open, key)
				l.mu.Unlock()
				close(one.done)
			}()
			fn()
		})
	}
	l.mu.Unlock()
	patience -= time.Since(one.since) // whoever comes late has waited already
	if patience <= 0 {
		select {
		case <-one.done:
			return true
		default:
			return false
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-one.done:
		return true
	case <-timer.C:
		return false
	}
}
