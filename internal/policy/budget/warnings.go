package budget

import "sync"

// Level is what a budget does at a share of its limit that you're notified of.
type Level string

// The levels.
const (
	Warns  Level = "warn"
	Blocks Level = "block"
)

// Warnings remembers what you were notified of: each level once, until less than it is used again
// because a new day, window or session has begun. It is safe for concurrent use; its zero value is
// ready.
type Warnings struct {
	mu   sync.Mutex
	said map[warning]bool
}

type warning struct {
	budget, agent, session string
	level                  Level
}

// maxWarnings limits what is remembered. Beyond it you may be notified again.
const maxWarnings = 4096

// Note calls notify for each level that a budget has reached and that you weren't notified of
// before. agent and session are those of a session's budget, agent that of a window. If notify
// returns false, it's called again next time.
func (w *Warnings) Note(b *Budget, agent, session string, percent float64, notify func(Level) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range []struct {
		level Level
		at    float64
	}{{Blocks, b.Block}, {Warns, b.Warn}} {
		key := warning{b.text, agent, session, l.level}
		switch {
		case l.at == 0 || percent < l.at:
			delete(w.said, key)
		case !w.said[key]:
			if !notify(l.level) {
				return
			}
			if w.said == nil || len(w.said) >= maxWarnings {
				w.said = map[warning]bool{}
			}
			w.said[key] = true
			if l.level == Blocks { // a warning is useless after the fact
				w.said[warning{b.text, agent, session, Warns}] = true
			}
		}
	}
}
