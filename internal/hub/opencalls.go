package hub

import (
	"sync"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// openCalls remembers decisions under way and lately made, by id: a client
// whose connection broke asks again with the same id and gets the same answer,
// not a second question.
type openCalls struct {
	mu    sync.Mutex
	calls map[string]*openCall
	done  []string // answered, oldest first
}

type openCall struct {
	ready    chan struct{}
	answer   neutral.Answer
	answered bool
	decision event.Decision
}

// keepAnswered bounds how many answers are remembered.
const keepAnswered = 1024

func newOpenCalls() *openCalls { return &openCalls{calls: map[string]*openCall{}} }

// enter gives the call of that id and whether the caller is its first.
func (o *openCalls) enter(id string) (*openCall, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c, ok := o.calls[id]; ok {
		return c, false
	}
	c := &openCall{ready: make(chan struct{})}
	o.calls[id] = c
	return c, true
}

func (o *openCalls) leave(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(c.ready)
	o.done = append(o.done, id)
	if len(o.done) > keepAnswered {
		delete(o.calls, o.done[0])
		o.done = o.done[1:]
	}
}

// abandon forgets a call that was not answered: asking again is a new
// question.
func (o *openCalls) abandon(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.calls, id)
	close(c.ready)
}

func (o *openCalls) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.calls) - len(o.done)
}
