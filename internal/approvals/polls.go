package approvals

import (
	"sync"
	"time"
)

// pollSpan is how long a program that asks for the requests again and again counts
// as looking at them after it last did. cmux's own view asks every second.
const pollSpan = 5 * time.Second

// polls knows programs that follow the requests by asking for the list again and
// again. One question alone is none of that.
type polls struct {
	mu    sync.Mutex
	last  map[watcher]time.Time
	until time.Time // somebody looks until then
}

// notePoll takes in that a process asked, and reports whether it does so again and again.
func (p *polls) notePoll(one watcher, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || len(p.last) >= maxWatchers {
		p.last = map[watcher]time.Time{}
	}
	before, known := p.last[one]
	p.last[one] = now
	if !known || now.Sub(before) > pollSpan {
		return false
	}
	p.until = now.Add(pollSpan)
	return true
}

func (p *polls) anyone(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.until)
}
