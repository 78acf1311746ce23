//go:build !unix

package install

import "errors"

// writable refuses: hookmux runs on Linux and macOS.
func writable([]Step) error {
	return errors.New("hookmux does not run on this system; use it on Linux or macOS")
}

// Visiting says nothing here.
func Visiting(string) string { return "" }
