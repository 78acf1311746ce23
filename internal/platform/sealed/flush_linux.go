package sealed

import (
	"os"

	"golang.org/x/sys/unix"
)

// FlushFile flushes the content of a file to disk; its times may come later.
func FlushFile(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
