//go:build !linux && !darwin

package proc

import (
	"context"
	"errors"
	"net"
	"time"
)

var errUnsupported = errors.New("processes can only be looked up on Linux and macOS; run hookmux there")

func (system) Lookup(int) (Process, error)   { return Process{}, errUnsupported }
func (system) Program(int) (string, error)   { return "", errUnsupported }
func (system) Args(int) ([]string, error)    { return nil, errUnsupported }
func (system) Environ(int) ([]string, error) { return nil, errUnsupported }

// Now returns the present in the unit of Process.Start.
func Now() uint64 { return uint64(time.Now().UnixMicro()) }

// Peer is not available on this system.
func Peer(*net.UnixConn) (Cred, error) { return Cred{}, errUnsupported }

// WatchExit is not available on this system.
func WatchExit(context.Context, int, uint64) (<-chan struct{}, error) { return nil, errUnsupported }

// Folder is unknown here.
func Folder(int) string { return "" }

// List is empty here.
func List() []int { return nil }
