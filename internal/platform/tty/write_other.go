//go:build !unix

package tty

import "errors"

// Write fails: terminals of other systems cannot be written to from elsewhere.
func Write(string, string) error {
	return errors.New("terminals cannot be written to on this system")
}
