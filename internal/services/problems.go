package services

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

// This file keeps the list of what is wrong right now, for status and watch. A problem is
// raised again and again while it lasts and fixed by its key.

// Problems is the problems that are open now. All methods may be called at once.
type Problems struct {
	mu      sync.Mutex
	open    map[string]*wire.Problem
	last    map[string]time.Time // when each was raised last
	count   atomic.Int32         // of open ones, to ask without the lock
	changed func(wire.Problem)   // called for each new or changed one
}

// maxProblems bounds the list: one entry per key, but keys can name hooks.
const maxProblems = 200

// NewProblems returns an empty list. changed is called for every problem that is new or whose
// text changed; it may be nil.
func NewProblems(changed func(wire.Problem)) *Problems {
	if changed == nil {
		changed = func(wire.Problem) {}
	}
	return &Problems{open: map[string]*wire.Problem{}, last: map[string]time.Time{}, changed: changed}
}

// Any reports whether a problem is open, without taking the lock.
func (p *Problems) Any() bool { return p.count.Load() > 0 }

// Raise opens the problem with this key, or increments its count.
func (p *Problems) Raise(key, what, fix string) { p.set(key, what, fix, 1) }

// Set opens the problem with this key, or updates its text: a state, which isn't counted. It reports
// whether it opened it.
func (p *Problems) Set(key, what, fix string) bool { return p.set(key, what, fix, 0) }

func (p *Problems) set(key, what, fix string, again int) (opened bool) {
	what = redact.Text(what) // it may quote what a hook or an agent said
	p.mu.Lock()
	p.last[key] = time.Now()
	if old, ok := p.open[key]; ok {
		old.Count += again
		same := old.What == what
		old.What, old.Fix = what, fix
		now := *old
		p.mu.Unlock()
		if !same {
			p.changed(now)
		}
		return false
	}
	if len(p.open) >= maxProblems {
		delete(p.last, key)
		p.mu.Unlock()
		return false
	}
	n := &wire.Problem{Key: key, What: what, Fix: fix, Since: time.Now(), Count: 1}
	p.open[key] = n
	p.count.Store(int32(len(p.open)))
	now := *n
	p.mu.Unlock()
	p.changed(now)
	return true
}

// briefKeys begin the keys of problems that end by themselves: what happened once is shown for a
// while, not forever.
var briefKeys = []string{"accept", "panic", "observers", "mux0", "spool", "intake-garbage", "decode", "frames",
	"aside:"}

const briefLasts = 10 * time.Minute

func isBrief(key string) bool {
	for _, prefix := range briefKeys {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// Clear closes the problem with this key.
func (p *Problems) Clear(key string) {
	p.mu.Lock()
	delete(p.open, key)
	delete(p.last, key)
	p.count.Store(int32(len(p.open)))
	p.mu.Unlock()
}

// ClearExcept closes every problem whose key begins with prefix and is not in stay.
func (p *Problems) ClearExcept(prefix string, stay map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.open {
		if len(key) >= len(prefix) && key[:len(prefix)] == prefix && !stay[key] {
			delete(p.open, key)
			delete(p.last, key)
		}
	}
	p.count.Store(int32(len(p.open)))
}

// All lists the open problems, oldest first.
func (p *Problems) All() []wire.Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]wire.Problem, 0, len(p.open))
	for key, one := range p.open {
		if isBrief(key) && time.Since(p.last[key]) > briefLasts {
			delete(p.open, key)
			delete(p.last, key)
			continue
		}
		list = append(list, *one)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Since.Before(list[j].Since) })
	return list
}
