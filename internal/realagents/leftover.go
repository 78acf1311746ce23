package realagents

import (
	"os"
	"path/filepath"
)

// Leftover is a file that an agent makes outside of the home it is given, whatever the
// environment says, and leaves there: an empty folder per session.
type Leftover struct {
	Sessions string // pattern below the home whose last names are those of sessions
	At       string // where the folders appear
}

// Sweep removes what an agent left outside of a throw-away home: folders named
// as a session of that home, and only when there is nothing in them.
func Sweep(name, home string) {
	a, _ := Find(name)
	if a.Leftover == nil {
		return
	}
	found, _ := filepath.Glob(filepath.Join(home, a.Leftover.Sessions)) // the pattern is our own
	for _, session := range found {
		_ = os.Remove(filepath.Join(a.Leftover.At,
			filepath.Base(session))) // not there or not empty: not ours to remove
	}
	if len(found) > 0 {
		_ = os.Remove(a.Leftover.At) // likewise
	}
}
