package sealed

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush waits for the data alone; the times of a file may come later.
func FlushFile(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
