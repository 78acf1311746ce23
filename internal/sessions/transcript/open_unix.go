//go:build unix

package transcript

import (
	"os"
	"syscall"
)

// fileID distinguishes files of the same name.
type fileID struct{ dev, ino uint64 }

// openRegular never follows a link at the end and never waits: a pipe or device in place of
// a record must not block the daemon.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

func identifyFile(info os.FileInfo) fileID {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{deviceNumber(s.Dev), s.Ino}
	}
	return fileID{}
}

// deviceNumber returns a device's number as uint64: its type differs between systems.
func deviceNumber[T int32 | uint32 | uint64](n T) uint64 { return uint64(n) }
