//go:build unix

package usage

import (
	"os"
	"syscall"
)

// uniqueFile is the same for every name of a file.
type uniqueFile struct {
	Device uint64 `json:"d"`
	Number uint64 `json:"n"`
}

func uniqueOf(info os.FileInfo) uniqueFile {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uniqueFile{deviceNumber(s.Dev), s.Ino}
	}
	return uniqueFile{}
}

// deviceNumber returns a device's number as uint64: its type differs between systems.
func deviceNumber[T int32 | uint32 | uint64](n T) uint64 { return uint64(n) }

// openRecord never waits: a pipe in the place of a record must not hold anything up.
func openRecord(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}
