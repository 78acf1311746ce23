package sessions

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/sessions/state"
)

// The states of a report, and the kinds of a blocked one.
const (
	programIdle    = "idle"
	programWorking = "working"
	programBlocked = "blocked"
	programDone    = "done"
	programFailed  = "error"
	programClear   = "clear" // the record, and those below it, go

	programPermission = "permission"
	programQuestion   = "question"
)

// ProgramStatus is one record of the Program Status Protocol (OSC 7501, revision 0.4), which
// reports to a terminal what a program in it does. A record replaces the one before.
type ProgramStatus struct {
	State, Kind string
	App         string
	ID          []string // its path
	Title       string
	Message     string
}

// The protocol's limits, in bytes: a report beyond one is dropped whole.
const (
	maxSegment = 32
	maxTitle   = 192
	maxMessage = 2048
)

// Sequence returns the report as a terminal reads it.
func (r *ProgramStatus) Sequence() string {
	pairs := []string{"state=" + r.State}
	add := func(key, value string) {
		if value != "" {
			pairs = append(pairs, key+"="+value)
		}
	}
	path := make([]string, len(r.ID))
	for i, segment := range r.ID {
		path[i] = name(segment)
	}
	add("id", strings.Join(path, "/"))
	if r.State != programClear {
		if r.State == programBlocked {
			add("kind", r.Kind)
		}
		add("app", name(r.App))
		add("title", text(r.Title, maxTitle))
		add("msg", text(r.Message, maxMessage))
	}
	return "\x1b]7501;" + strings.Join(pairs, ":") + "\x1b\\"
}

// name leaves of a text what a segment of a path and the name of a program may have.
func name(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_.+-", r):
			return r
		}
		return '-'
	}, s)
	return s[:min(len(s), maxSegment)]
}

// text returns one line without control characters, encoded.
func text(s string, most int) string {
	s = state.Fold(s, most)
	for len(s) > most {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return base64.StdEncoding.EncodeToString([]byte(s))
}
