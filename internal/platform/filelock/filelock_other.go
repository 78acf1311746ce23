//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package filelock

import (
	"errors"
	"os"
)

// Try refuses: hookmux runs on Linux and macOS.
func Try(*os.File) error {
	return errors.New("files cannot be locked on this system; use Linux or macOS")
}
