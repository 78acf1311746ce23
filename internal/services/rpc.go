package services

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Method is one thing the daemon can be asked. Every service lists its own; the server
// calls Run once the peer may, by [wire.Methods].
type Method struct {
	Run func(params json.RawMessage, peer proc.Cred) (any, *wire.Error)
	// RunAsking replaces Run if the user may have to be asked first.
	RunAsking func(ask Asking, params json.RawMessage, peer proc.Cred) (any, *wire.Error)
	// RunOwn replaces Run for a peer that may read some sessions only, if Run would
	// count or page through all of them.
	RunOwn func(params json.RawMessage, owns Owns) (any, *wire.Error)
}

// Owns reports whether a session, or something that happened in a folder, is the
// reader's own.
type Owns func(agent, session, folder string) bool

// Asking begins to wait for the user while the caller waits: ctx ends when the caller hangs up or
// the daemon stops. done ends it.
type Asking func() (ctx context.Context, done func())

// Call runs the method.
func (m *Method) Call(ask Asking, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	if m.RunAsking != nil {
		return m.RunAsking(ask, params, peer)
	}
	return m.Run(params, peer)
}

// LongMethod is a method that may wait for hooks or the user. Its ctx ends when the caller hangs
// up.
type LongMethod func(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error)

// Check returns the error that a call would end with whatever the user says, so that they
// aren't asked for a code first; nil: none that is known.
type Check func(params json.RawMessage) *wire.Error

// ReadParams reads the parameters of a method. Unknown keys are errors, so that
// a typing error is not silently ignored.
func ReadParams(params json.RawMessage, into any) *wire.Error {
	if len(params) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(params))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return wire.Errorf(wire.CodeParams, "the parameters cannot be read: %v", err)
	}
	return nil
}
