package telemetry

import (
	"context"
	"sync"
	"sync/atomic"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// maxQueued is how many spans, and how many log records, wait at most. What is older
// is dropped first.
const maxQueued = 2048

// queue holds what waits to be sent. The SDK adds spans and log records to it.
type queue struct {
	mu      sync.Mutex
	spans   []sdktrace.ReadOnlySpan
	logs    []sdklog.Record
	dropped int64
	sent    int64
	filled  chan struct{} // there's something
}

func newQueue() *queue { return &queue{filled: make(chan struct{}, 1)} }

// OnStart implements [sdktrace.SpanProcessor].
func (q *queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements [sdktrace.SpanProcessor].
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	q.mu.Lock()
	q.spans = dropOldest(append(q.spans, s), &q.dropped)
	q.mu.Unlock()
	q.tell()
}

// dropOldest cuts off the oldest eighth of a list that is too long, and counts it: many at
// once, so that a full queue costs no more than an empty one.
func dropOldest[T any](list []T, dropped *int64) []T {
	const many = maxQueued / 8
	if len(list) <= maxQueued {
		return list
	}
	*dropped += many
	return append(list[:0:0], list[many:]...)
}

func (q *queue) tell() {
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// Shutdown implements the SDK's processors.
func (q *queue) Shutdown(context.Context) error { return nil }

// ForceFlush implements the SDK's processors.
func (q *queue) ForceFlush(context.Context) error { return nil }

// logQueue is the queue as a [sdklog.Processor].
type logQueue struct{ *queue }

// Enabled implements [sdklog.Processor].
func (logQueue) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// OnEmit implements [sdklog.Processor].
func (q logQueue) OnEmit(_ context.Context, r *sdklog.Record) error {
	q.mu.Lock()
	q.logs = dropOldest(append(q.logs, r.Clone()), &q.dropped)
	q.mu.Unlock()
	q.tell()
	return nil
}

// batch is how much is sent at once.
const batch = 512

// take removes and returns what is sent next.
func (q *queue) take() (spans []sdktrace.ReadOnlySpan, logs []sdklog.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, m := min(batch, len(q.spans)), min(batch, len(q.logs))
	spans, logs = q.spans[:n:n], q.logs[:m:m]
	q.spans, q.logs = q.spans[n:], q.logs[m:]
	if len(q.spans) == 0 {
		q.spans = nil // the memory goes with what was sent
	}
	if len(q.logs) == 0 {
		q.logs = nil
	}
	return spans, logs
}

// count adds what was sent or given up.
func (q *queue) count(sent, dropped int64) {
	q.mu.Lock()
	q.sent += sent
	q.dropped += dropped
	q.mu.Unlock()
}

// drop counts what never reached the queue.
func (q *queue) drop(unheard *atomic.Int64) {
	if n := unheard.Swap(0); n > 0 {
		q.count(0, n)
	}
}

func (q *queue) state() (queued int, sent, dropped int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.spans) + len(q.logs), q.sent, q.dropped
}

// putBack returns what couldn't be sent to the queue; it is older than the rest.
func (q *queue) putBack(spans []sdktrace.ReadOnlySpan, logs []sdklog.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spans, q.logs = append(spans, q.spans...), append(logs, q.logs...)
}
