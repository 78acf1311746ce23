//go:build !unix

package member

import "errors"

var errSystem = errors.New("a fleet is served on Linux and macOS")

func spawn(string, []string, string, string) (*child, error) { return nil, errSystem }

func terminate(int) error { return errSystem }

func last(log []byte) string { return string(log) }
