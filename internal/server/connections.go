package server

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// defaultSilence is how long a peer may take to say what it wants. A hook
	// sends everything at once; whoever is still silent then is broken or
	// hostile.
	defaultSilence = 10 * time.Second
	// maxConnections bounds open connections; beyond it new ones are hung up
	// on, which a hook client answers with its neutral answer.
	maxConnections = 4096
)

// MaxConversations bounds conversations, which may stay open for long, so that
// there is always room for hooks.
const MaxConversations = 512

// connections are all open ones, so that silent ones can be swept and all be
// closed at the end.
type connections struct {
	silence       time.Duration
	mu            sync.Mutex
	conversations int // under way
	open          map[*connection]struct{}
}

type connection struct {
	conn   *net.UnixConn
	talks  bool        // it holds a conversation: JSON-RPC, cmux
	since  int64       // unix nano
	hasAsk atomic.Bool // it said what it wants
	short  atomic.Bool // it is being answered and will be done soon
}

func (c *connection) markHeard() { c.hasAsk.Store(true) }

func newConnections() *connections {
	return &connections{silence: defaultSilence, open: make(map[*connection]struct{})}
}

// add is nil when there are too many.
func (c *connections) add(conn *net.UnixConn) *connection {
	entry := &connection{conn: conn, since: time.Now().UnixNano()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxConnections {
		return nil
	}
	c.open[entry] = struct{}{}
	return entry
}

func (c *connections) remove(entry *connection) {
	c.mu.Lock()
	if entry.talks {
		c.conversations--
	}
	delete(c.open, entry)
	c.mu.Unlock()
}

// beginConversation lets a conversation begin, or refuses when there are too
// many.
func (c *connections) beginConversation(entry *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conversations >= MaxConversations {
		return false
	}
	c.conversations++
	entry.talks = true
	return true
}

// sweepSilent hangs up on peers that never said what they want. One look a
// second for all is cheaper than a timer for each.
func (c *connections) sweepSilent(ctx context.Context) {
	tick := time.NewTicker(c.silence / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			limit := now.Add(-c.silence).UnixNano()
			c.mu.Lock()
			for entry := range c.open {
				if !entry.hasAsk.Load() && entry.since < limit {
					entry.conn.Close()
				}
			}
			c.mu.Unlock()
		}
	}
}

// waitForShort waits until nobody is being answered who will be done soon, but
// not longer than limit.
func (c *connections) waitForShort(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end) && c.anyShort(); {
		time.Sleep(5 * time.Millisecond)
	}
}

func (c *connections) anyShort() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for entry := range c.open {
		if entry.short.Load() {
			return true
		}
	}
	return false
}

func (c *connections) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for entry := range c.open {
		entry.conn.Close()
	}
}
