package pipeline

import (
	"sync"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// openCalls remembers decisions under way and lately made, by id: a client
// whose connection broke asks again with the same id and gets the same answer,
// not a second question.
type openCalls struct {
	mu   sync.Mutex
	open map[string]*openCall
	done bounded.Map[string, *openCall] // answered
}

type openCall struct {
	ready    chan struct{} // made for whoever waits besides the first
	over     bool
	answer   neutral.Answer
	answered bool
	decision event.Decision
}

// keepAnswered bounds how many answers are remembered.
const keepAnswered = 1024

func newOpenCalls() *openCalls { return &openCalls{open: map[string]*openCall{}} }

// emptyCall represents every call that was answered without any decision: most of
// those that are remembered.
var emptyCall = &openCall{over: true, answered: true}

// beginCall gives the call of that id and whether the caller is its first. Anybody
// else waits until ready, unless it is nil: then it is over.
func (o *openCalls) beginCall(id string) (c *openCall, ready <-chan struct{}, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c, ok := o.done.Get(id); ok {
		return c, c.ready, false
	}
	if c, ok := o.open[id]; ok {
		if c.ready == nil {
			c.ready = make(chan struct{})
		}
		return c, c.ready, false
	}
	c = &openCall{}
	o.open[id] = c
	return c, nil, true
}

func (c *openCall) finishCall() {
	c.over = true
	if c.ready != nil {
		close(c.ready)
	}
}

func (c *openCall) isNeutral() bool {
	d := &c.decision
	return c.answered && c.answer == neutral.Answer{} && d.Empty() && d.Reason == "" && d.By == "" &&
		d.Answer == nil && len(d.Degraded) == 0 && !d.Allowed
}

func (o *openCalls) keepAnswer(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c.finishCall()
	if c.isNeutral() {
		c = emptyCall
	}
	delete(o.open, id)
	o.done.Put(id, c, keepAnswered)
}

// forget forgets a call that was not answered: asking again is a new
// question.
func (o *openCalls) forget(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, id)
	c.finishCall()
}

func (o *openCalls) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.open)
}
