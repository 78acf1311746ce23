//go:build !linux

package ledger

import "os"

func flushFile(f *os.File) error { return f.Sync() }
