//go:build !unix

package daemoncmd

import (
	"errors"
	"syscall"
)

func sendSignal(int, syscall.Signal) error { return errors.New("daemons run on Linux and macOS only") }
