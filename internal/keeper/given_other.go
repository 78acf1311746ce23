//go:build !linux

package keeper

import "os"

// Given is what hookmux-start passed to this process.
type Given struct{ Socket, Conn *os.File }

// TakeGiven returns nil: there is no system service here.
func TakeGiven() (*Given, error) { return nil, nil }
