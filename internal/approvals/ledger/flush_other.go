//go:build !linux

package ledger

import "os"

func flush(f *os.File) error { return f.Sync() }
