package hub

import (
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

// problems is what is wrong right now, for status and watch. A problem is
// raised again and again while it lasts and mended by its key.
type problems struct {
	mu      sync.Mutex
	open    map[string]*wire.Problem
	last    map[string]time.Time // when each was raised last
	count   atomic.Int32         // of open ones, to ask without the lock
	changed func(wire.Problem)   // a new one, for the streams
}

// maxProblems bounds the list: one entry per key, but keys can name hooks.
const maxProblems = 200

func newProblems() *problems {
	return &problems{open: map[string]*wire.Problem{}, last: map[string]time.Time{}, changed: func(wire.Problem) {}}
}

func (p *problems) raise(key, what, fix string) {
	what = redact.Text(what) // it may quote what a hook or an agent said
	p.mu.Lock()
	p.last[key] = time.Now()
	if old, ok := p.open[key]; ok {
		old.Count++
		same := old.What == what
		old.What, old.Fix = what, fix
		now := *old
		p.mu.Unlock()
		if !same {
			p.changed(now)
		}
		return
	}
	if len(p.open) >= maxProblems {
		delete(p.last, key)
		p.mu.Unlock()
		return
	}
	n := &wire.Problem{Key: key, What: what, Fix: fix, Since: time.Now(), Count: 1}
	p.open[key] = n
	p.count.Store(int32(len(p.open)))
	now := *n
	p.mu.Unlock()
	p.changed(now)
}

// brief begins the keys of problems that are over by themselves: what happened
// once is told for a while, not for ever.
var brief = []string{"accept", "panic", "observers", "mux0", "spool", "intake-garbage", "decode", "frames", "aside:"}

const briefLasts = 10 * time.Minute

func isBrief(key string) bool {
	for _, prefix := range brief {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

func (p *problems) mend(key string) {
	p.mu.Lock()
	delete(p.open, key)
	delete(p.last, key)
	p.count.Store(int32(len(p.open)))
	p.mu.Unlock()
}

// keep mends every problem whose key begins with prefix and is not in stay.
func (p *problems) keep(prefix string, stay map[string]bool) {
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

func (p *problems) list() []wire.Problem {
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
