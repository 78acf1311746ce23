package ops

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/tshook/engine"
)

// fullEngine is an engine for which much waits until somebody says otherwise.
type fullEngine struct {
	engine.Runtime
	free atomic.Bool
}

func (e *fullEngine) IsQueueFull() bool { return !e.free.Load() }

// Whoever has more to say while much waits for
// the engine waits, too.
func TestStreamsWaitForAFullEngine(t *testing.T) {
	o := New(nil)
	defer o.Close()
	full := &fullEngine{}
	o.Attach(full)
	written := make(chan struct{})
	go func() {
		_, _ = stream{o, "stdout", func(any) {}}.Write([]byte("more"))
		close(written)
	}()
	select {
	case <-written:
		t.Error("it was written although much waits")
	case <-time.After(50 * time.Millisecond):
	}
	full.free.Store(true)
	select {
	case <-written:
	case <-time.After(30 * time.Second):
		t.Error("it was not written although nothing waits")
	}
}
