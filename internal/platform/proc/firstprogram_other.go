//go:build !linux

package proc

// NoteFirstProgram does nothing here: the system does not tell what a process ran before.
func NoteFirstProgram() {}

// RanBefore is not known.
func RanBefore(int) (bool, error) { return true, ErrFirstUnknown }
