//go:build !linux

package isolate

import "errors"

// StartAgain is there on Linux only.
func StartAgain([]string, []string) Outcome {
	return Outcome{Why: "network namespaces exist only on Linux"}
}

// Enter never runs here.
func Enter() error { return errors.New("no network namespaces on this system") }
