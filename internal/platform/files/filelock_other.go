//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package files

import (
	"errors"
	"os"
)

// TryLock fails: hookmux runs on Linux and macOS.
func TryLock(*os.File) error {
	return errors.New("files cannot be locked on this system; use Linux or macOS")
}
