//go:build !linux

package sealed

import "os"

// FlushFile flushes the content of a file to disk.
func FlushFile(f *os.File) error { return f.Sync() }
