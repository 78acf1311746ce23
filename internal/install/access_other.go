//go:build !unix

package install

import "errors"

// CheckWritable always fails: hookmux runs on Linux and macOS.
func CheckWritable([]Step) error {
	return errors.New("hookmux does not run on this system; use it on Linux or macOS")
}
