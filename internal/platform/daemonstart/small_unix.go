//go:build unix

package daemonstart

import (
	"errors"
	"os"
	"syscall"
)

// writeSmall replaces the content of a small file of hookmux. Something else in its place,
// such as a pipe without a reader, is an error and never blocks.
func writeSmall(path string, content []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
