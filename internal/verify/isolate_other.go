//go:build !linux

package verify

import "errors"

// Isolate is there on Linux only.
func Isolate([]string, []string) Isolated {
	return Isolated{Why: "network namespaces are a Linux thing"}
}

// Enter never runs here.
func Enter() error { return errors.New("no network namespaces on this system") }
