package pipeline

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
	ready    chan struct{} // made for whoever waits besides the first
	over     bool
	answer   neutral.Answer
	answered bool
	decision event.Decision
}

// keepAnswered bounds how many answers are remembered.
const keepAnswered = 1024

func newOpenCalls() *openCalls { return &openCalls{calls: map[string]*openCall{}} }

// emptyCall is every call that was answered and to which nobody had anything
// to say: most of those that are remembered.
var emptyCall = &openCall{over: true, answered: true}

// begin gives the call of that id and whether the caller is its first. Anybody
// else waits until ready, unless it is nil: then it is over.
func (o *openCalls) begin(id string) (c *openCall, ready <-chan struct{}, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c, ok := o.calls[id]; ok {
		if !c.over && c.ready == nil {
			c.ready = make(chan struct{})
		}
		return c, c.ready, false
	}
	c = &openCall{}
	o.calls[id] = c
	return c, nil, true
}

func (c *openCall) finish() {
	c.over = true
	if c.ready != nil {
		close(c.ready)
	}
}

func (c *openCall) saidNothing() bool {
	d := &c.decision
	return c.answered && c.answer == neutral.Answer{} && d.Empty() && d.Reason == "" && d.By == "" &&
		d.Answer == nil && len(d.Degraded) == 0 && !d.Allowed
}

func (o *openCalls) keepAnswer(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c.finish()
	if c.saidNothing() {
		o.calls[id] = emptyCall
	}
	o.done = append(o.done, id)
	if len(o.done) > keepAnswered {
		delete(o.calls, o.done[0])
		o.done = o.done[1:]
	}
}

// forget forgets a call that was not answered: asking again is a new
// question.
func (o *openCalls) forget(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.calls, id)
	c.finish()
}

func (o *openCalls) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.calls) - len(o.done)
}
