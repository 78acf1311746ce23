//go:build !unix

package launch

import "errors"

// Exec replaces this process, which this system cannot do.
func Exec(string, []string, []string) error {
	return errors.New("hookmux run works on Linux and macOS only")
}
