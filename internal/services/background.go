package services

import (
	"context"
	"sync"
	"time"
)

// Background runs goroutines that the daemon waits for when it stops. Unlike a [sync.WaitGroup]
// it may be given more of them while something waits. Its zero value is ready.
type Background struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when none runs any more; nil while nothing waits
}

// Go runs f. What f does must end soon after the daemon's context does; if that depends on
// another program or on a disk, the daemon leaves it behind after a moment.
func (b *Background) Go(f func()) {
	b.mu.Lock()
	b.running++
	b.mu.Unlock()
	go func() {
		defer b.noteEnd()
		f()
	}()
}

// After runs f once the time is over, unless ctx ends before.
func (b *Background) After(ctx context.Context, span time.Duration, f func()) {
	b.Go(func() {
		if !Pause(span, ctx.Done()) {
			f()
		}
	})
}

func (b *Background) noteEnd() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	if b.running == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// Wait waits until none runs, and reports whether that was before ctx ended.
func (b *Background) Wait(ctx context.Context) bool {
	b.mu.Lock()
	if b.running == 0 {
		b.mu.Unlock()
		return true
	}
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	idle := b.idle
	b.mu.Unlock()
	select {
	case <-idle:
		return true
	case <-ctx.Done():
		return false
	}
}
