package hook

// pausePrefix keeps the names of paused hooks apart from those of guards and rules.
const pausePrefix = "hook:"

// PauseName returns how a hook is called where pauses are kept.
func PauseName(id string) string { return pausePrefix + id }

// PausedHook returns the hook that such a name means.
func PausedHook(name string) (id string, ok bool) {
	if len(name) <= len(pausePrefix) || name[:len(pausePrefix)] != pausePrefix {
		return "", false
	}
	return name[len(pausePrefix):], true
}
