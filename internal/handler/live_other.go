//go:build !unix

package handler

import (
	"context"
	"errors"
)

// liveProgram is for systems on which hookmux has no daemon.
type liveProgram struct{}

func startLive(*Processes, spec) (*liveProgram, error) {
	return nil, errors.New("programs that go on running are not supported on this system")
}

func (*liveProgram) hasEnded() bool { return true }
func (*liveProgram) end()           {}
func (*liveProgram) ask(context.Context, []byte, bool) ([]byte, bool, error) {
	return nil, false, errors.New("not supported on this system")
}
