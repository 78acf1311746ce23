//go:build !linux

package firstprogram

// Tell does nothing here: the system does not tell what a process ran before.
func Tell() {}

// RanBefore is not known.
func RanBefore(int) (bool, error) { return true, ErrUnknown }
