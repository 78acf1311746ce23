//go:build !linux

package proc

// NoteFirstProgram does nothing here: the system doesn't show what a process ran before.
func NoteFirstProgram() {}

// RanBefore is not known.
func RanBefore(int) (bool, error) { return true, ErrFirstUnknown }
