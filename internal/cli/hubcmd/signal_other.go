//go:build !unix

package hubcmd

import (
	"errors"
	"syscall"
)

func sendSignal(int, syscall.Signal) error { return errors.New("hubs run on Linux and macOS only") }
