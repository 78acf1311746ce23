//go:build !linux

package sealed

import "os"

func FlushFile(f *os.File) error { return f.Sync() }
