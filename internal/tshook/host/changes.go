package host

import (
	"sync"
)

// changeSignal lets callers wait for the next change.
type changeSignal struct {
	mu   sync.Mutex
	next chan struct{}
}

// nextChange is closed at the next change.
func (c *changeSignal) nextChange() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// announceChange wakes everything that waits.
func (c *changeSignal) announceChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
