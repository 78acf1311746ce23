//go:build !linux

package keeper

import "errors"

// Connection is a connection to the keeper.
type Connection struct{}

// ErrUnreachable says that the keeper isn't there.
var ErrUnreachable = errors.New("hookmux's system service runs on Linux only")

// Send fails: there is no keeper here.
func Send(string, Request) (Connection, Reply, error) { return Connection{}, Reply{}, ErrUnreachable }

// Close does nothing.
func (c *Connection) Close() {}
