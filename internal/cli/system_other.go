//go:build !linux

package cli

import "github.com/hookmux/hookmux/internal/keeper"

// useSystem does nothing: there is no system service here.
func useSystem(*keeper.Given) {}
