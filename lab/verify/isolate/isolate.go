// Package isolate keeps agents from the network: it starts this program again in a network namespace
// that has nothing but loopback, if the kernel allows it.
package isolate

import (
	"strings"
)

// How agents are kept from the network. The report names which of the two it was.
const (
	InNamespace   = "a network namespace with nothing but loopback"
	BehindProxies = "proxies on a dead port and each agent's own offline switches"
)

// insideVariable marks the second start of this program as the one inside the namespace.
const insideVariable = "HOOKMUX_VERIFY_INSIDE"

// Inside reports whether this process was started by StartAgain.
func Inside(getenv func(string) string) bool { return getenv(insideVariable) != "" }

// Outside returns the environment without what StartAgain put into it.
func Outside(env []string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, insideVariable+"=") {
			out = append(out, kv)
		}
	}
	return out
}

// Outcome is how a second start ended.
type Outcome struct {
	Ran  bool // false: no namespace to be had here, go on as you are
	Code int
	Why  string // why not
}
