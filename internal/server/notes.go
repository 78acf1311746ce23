package server

import "sync"

// Notes wakes everything that follows events. It holds no events: each stream reads the
// journal at its own pace, so a slow reader delays no one and loses nothing.
type Notes struct {
	mu        sync.Mutex
	stored    chan struct{} // closed and replaced when something new is stored
	followers map[chan note]struct{}
}

// note is sent to a stream in addition to events: problems, traces. These aren't stored, so
// a stream that doesn't keep up misses some.
type note struct {
	method string
	params any
}

// NewNotes begins without followers.
func NewNotes() *Notes {
	return &Notes{stored: make(chan struct{}), followers: map[chan note]struct{}{}}
}

// EventsStored wakes the streams: there is something new in the journal.
func (n *Notes) EventsStored() {
	n.mu.Lock()
	close(n.stored)
	n.stored = make(chan struct{})
	n.mu.Unlock()
}

// nextStored is closed when something new is stored.
func (n *Notes) nextStored() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stored
}

func (n *Notes) addFollower() (notes chan note, leave func()) {
	c := make(chan note, 256)
	n.mu.Lock()
	n.followers[c] = struct{}{}
	n.mu.Unlock()
	return c, func() {
		n.mu.Lock()
		delete(n.followers, c)
		n.mu.Unlock()
	}
}

// Publish sends a note to every stream that keeps up.
func (n *Notes) Publish(method string, params any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.followers {
		select {
		case c <- note{method, params}:
		default:
		}
	}
}

// Watched reports whether anybody follows a stream.
func (n *Notes) Watched() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.followers) > 0
}
