// Package guardnote reads and writes the small file that tells the hook client which events
// guards cover, for the moment in which neither the daemon nor the check without
// it answers. The daemon writes it whenever its settings change, and `hookmux
// install` writes it, too. Standard library only: the hook client links it.
//
// The file holds one pair of words per line between a first and a last line
// that make a cut file recognisable:
//
//	hookmux guards 1
//	* tool.before
//	claude UserPromptSubmit
//	end
//
// The first word is an agent, the second a kind of event or an agent's own name
// of one; "*" stands for all of them.
package guardnote

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Cover is one line: guards apply to these events of these agents.
type Cover struct {
	Agent string // a name in the catalogue, or Any
	Event string // a kind, an agent's own name of an event, or Any
}

// Any stands for every agent or every event.
const Any = "*"

const (
	firstLine = "hookmux guards 1"
	lastLine  = "end"
	maxSize   = 64 << 10
	maxCovers = 1000
)

// Builtin returns the events that hookmux's own guards cover, of every agent.
func Builtin() []Cover { return []Cover{{Any, "tool.before"}, {Any, "tool.permission.request"}} }

// ErrDamaged says that there is a note that cannot be believed.
var ErrDamaged = errors.New("the note of guarded events is damaged; `hookmux daemon restart` writes it again")

// File returns where the note is.
func File(state string) string { return filepath.Join(state, "guarded") }

// Read gives the note of a state folder.
func Read(state string) ([]Cover, error) {
	text, err := files.Read(File(state), maxSize)
	if err != nil {
		return nil, err
	}
	return parseNote(string(text))
}

func parseNote(text string) ([]Cover, error) {
	body, ok := strings.CutPrefix(text, firstLine+"\n")
	if !ok {
		return nil, ErrDamaged
	}
	if body, ok = strings.CutSuffix(body, lastLine+"\n"); !ok || body != "" && !strings.HasSuffix(body, "\n") {
		return nil, ErrDamaged
	}
	var covers []Cover
	for line := range strings.Lines(body) {
		agent, event, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !isWord(agent) || !isWord(event) || len(covers) == maxCovers {
			return nil, ErrDamaged
		}
		covers = append(covers, Cover{agent, event})
	}
	return covers, nil
}

// isWord reports whether a text could be the name of an agent or an event: these have
// no white space and no control characters.
func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) < 0
}

// Write replaces the note when it says something else. A list that does not fit
// becomes "everything".
func Write(state string, covers []Cover) error {
	covers = slices.Clone(covers)
	slices.SortFunc(covers, func(a, b Cover) int {
		if c := strings.Compare(a.Agent, b.Agent); c != 0 {
			return c
		}
		return strings.Compare(a.Event, b.Event)
	})
	covers = slices.Compact(covers)
	text := formatNote(covers)
	if len(covers) > maxCovers || len(text) > maxSize ||
		slices.ContainsFunc(covers, func(c Cover) bool { return !isWord(c.Agent) || !isWord(c.Event) }) {
		text = formatNote([]Cover{{Any, Any}})
	}
	file := File(state)
	if old, err := files.Read(file, maxSize); err == nil && bytes.Equal(old, text) {
		return nil
	} else if files.IsNotPlainFile(err) {
		if _, err := files.SetAside(file); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	return files.Write(file, text)
}

func formatNote(covers []Cover) []byte {
	text := []byte(firstLine + "\n")
	for _, c := range covers {
		text = append(text, c.Agent+" "+c.Event+"\n"...)
	}
	return append(text, lastLine+"\n"...)
}

// Covers reports whether a list covers an event, given by the agent's name, its
// own name of the event and the event's kind.
func Covers(list []Cover, agent, native, kind string) bool {
	for _, c := range list {
		if (c.Agent == Any || c.Agent == agent) &&
			(c.Event == Any || c.Event == native || kind != "" && c.Event == kind) {
			return true
		}
	}
	return false
}
