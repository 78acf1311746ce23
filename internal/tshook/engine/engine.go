// Package engine runs JavaScript: QuickJS, one engine for each file on a goroutine of its
// own, with limits on time, memory and stack. It knows neither Node's API nor pi's interface:
// what JavaScript asks of Go are [Operations].
package engine

import (
	"encoding/json"
	"time"
)

// Operations is everything JavaScript can ask of Go.
type Operations interface {
	// Attach says which engine asks. It is called before anything else.
	Attach(Runtime)
	// Call answers at once, on the engine's goroutine.
	Call(op string, args json.RawMessage) string
	// Start answers later, with a reply to the engine.
	Start(id int, op string, args json.RawMessage, key string)
	// ReportError reports an uncaught exception.
	ReportError(event string, e *JSError)
	// Cancel ends the operation that the engine waits for.
	Cancel()
	// Close ends everything that was started.
	Close()
}

// Runtime is an engine as operations see it.
type Runtime interface {
	Reply(id int, body []byte)
	IsQueueFull() bool // too many jobs wait for it
	Answered(id int, o Outcome)
	DropAfter(why error)   // drop the engine after this turn
	RunUnwatched(f func()) // off the engine's time
	LoadPart(name string) error
	Slice() time.Duration
}

// Limits bound one engine.
type Limits struct {
	Slice    time.Duration // computing without giving way
	Memory   uint64        // bytes
	Load     time.Duration // from reading a file to its handlers being known
	Sessions int           // sessions remembered; the one unused for longest goes first
}

// DefaultLimits are wide enough for hooks and narrow enough for a daemon.
var DefaultLimits = Limits{Slice: time.Second, Memory: 64 << 20, Load: 10 * time.Second, Sessions: 128}

// ReadScript returns one of the JavaScript files that engines are made of.
func ReadScript(name string) ([]byte, error) { return scripts.ReadFile("js/" + name) }
