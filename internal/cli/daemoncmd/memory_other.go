//go:build !linux

package daemoncmd

// hideMemory does nothing: macOS keeps processes apart by itself.
func hideMemory() {}
