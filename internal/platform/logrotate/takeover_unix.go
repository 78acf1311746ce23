//go:build unix

package logrotate

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeOver makes out's descriptor refer to next. A daemon's standard output and standard
// error are the same file, so one follows the other.
func takeOver(next, out *os.File) error {
	to := int(out.Fd())
	for _, std := range []int{1, 2} {
		if std != to && to <= 2 && sameFile(std, to) {
			if err := unix.Dup2(int(next.Fd()), std); err != nil {
				return err
			}
		}
	}
	return unix.Dup2(int(next.Fd()), to)
}

func sameFile(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}
