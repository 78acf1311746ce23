package launch

import "strings"

// Environ returns the environment for the agent: the caller's, in its order, with
// ActiveVariable set.
func Environ(env []string, active string) []string {
	out := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if !strings.HasPrefix(entry, ActiveVariable+"=") {
			out = append(out, entry)
		}
	}
	return append(out, ActiveVariable+"="+active)
}
