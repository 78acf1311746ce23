//go:build !linux

package consent

import "os"

func flush(f *os.File) error { return f.Sync() }
