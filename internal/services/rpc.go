package services

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Method is one thing the hub can be asked, with who may ask it. Every service
// lists its own; the server calls Run once the peer may.
type Method struct {
	Class authority.Class
	Run   func(params json.RawMessage, peer proc.Cred) (any, *wire.Error)
}

// LongMethod is a method that may wait for hooks or a person. Its ctx ends when
// the caller hangs up.
type LongMethod struct {
	Class authority.Class
	Run   func(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error)
}

// Read is a method that anybody may call who may read.
func Read(run func(params json.RawMessage, peer proc.Cred) (any, *wire.Error)) Method {
	return Method{Class: authority.Read, Run: run}
}

// Decide is a method for people alone.
func Decide(run func(params json.RawMessage, peer proc.Cred) (any, *wire.Error)) Method {
	return Method{Class: authority.Decide, Run: run}
}

// Report is a method for hooks and plugins.
func Report(run func(params json.RawMessage, peer proc.Cred) (any, *wire.Error)) Method {
	return Method{Class: authority.Report, Run: run}
}

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
