package ops

import (
	"bytes"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/tsmodule/engine"
)

// endless is a program's output that does not end by itself.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	e.left -= len(p)
	return copy(p, bytes.Repeat([]byte("y"), len(p))), nil
}

// TestOutputIsBounded: what is kept of a process's output has an end, however
// it is copied.
func TestOutputIsBounded(t *testing.T) {
	var b bounded
	if _, err := io.Copy(&b, &endless{left: 2 * maxOutput}); err != nil || len(b.keptBytes()) != maxOutput {
		t.Errorf("kept %d bytes, want %d: %v", len(b.keptBytes()), maxOutput, err)
	}
}

// fullEngine is an engine for which much waits until somebody says otherwise.
type fullEngine struct {
	engine.Runtime
	free atomic.Bool
}

func (e *fullEngine) Crowded() bool { return !e.free.Load() }

// TestStreamsWaitForAFullEngine: whoever has more to say while much waits for
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
