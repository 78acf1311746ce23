//go:build !linux

package hubcmd

// hideMemory does nothing: macOS keeps processes apart by itself.
func hideMemory() {}
