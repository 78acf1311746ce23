// Package guardnote reads and writes the small file that lists, for the hook client, which
// events guards cover, for when neither the daemon nor the check without it answers. The
// daemon writes it whenever its settings change, and so does `hookmux install`. Standard
// library only: the hook client links it.
//
// The file holds one pair of words per line between a first and a last line that make a
// truncated file recognisable:
//
//	hookmux guards 2
//	* tool.before
//	claude UserPromptSubmit
//	written 1763555515000000000
//	seal 5e884898…
//	end
//
// The first word is an agent, the second a kind of event or an agent's own name of one; "*"
// means all of them. The seal is made with the key next to the note. What is listed applies
// in any case; that something isn't listed only applies in a sealed note that is as new as
// the settings it was made from.
package guardnote

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Cover is one line: guards apply to these events of these agents.
type Cover struct {
	Agent string // a name in the catalogue, or Any
	Event string // a kind, an agent's own name of an event, or Any
}

// Any means every agent or every event.
const Any = "*"

const (
	firstLine = "hookmux guards 2"
	lastLine  = "end"
	written   = "\nwritten "
	seal      = "\nseal "
	name      = "guarded"
	maxSize   = 64 << 10
	maxCovers = 1000
)

// Builtin returns the events that hookmux's own guards cover, of every agent.
func Builtin() []Cover { return []Cover{{Any, "tool.before"}, {Any, "tool.permission.request"}} }

// Errors of a note that doesn't list everything that guards cover.
var (
	ErrDamaged  = errors.New("the note of guarded events is damaged; `hookmux daemon restart` writes it again")
	ErrUnsealed = errors.New("hookmux didn't write the note of guarded events; `hookmux daemon restart` writes it again")
	ErrOld      = errors.New("the note of guarded events is older than the settings; `hookmux daemon restart` writes " +
		"it again")
)

// File returns where the note is.
func File(state string) string { return filepath.Join(state, name) }

// note is a note as it was read.
type note struct {
	covers []Cover
	at     int64  // when it was written, in nanoseconds
	body   string // what is sealed
	seal   string
}

// Read returns the note of a state folder. With [ErrUnsealed] and [ErrOld] it returns what is
// listed, and more may be covered.
func Read(state string) ([]Cover, error) {
	text, err := files.Read(File(state), maxSize)
	if err != nil {
		return nil, err
	}
	n, err := parseNote(string(text))
	if err != nil {
		return nil, err
	}
	key := readKey(state)
	switch {
	case len(key) == 0 || !paths.EqualMAC(n.seal, sealOf(key, n.body)):
		return n.covers, ErrUnsealed
	case n.at < settledAt(state):
		return n.covers, ErrOld
	}
	return n.covers, nil
}

// readKey returns the key next to the note; nil if there is none.
func readKey(state string) []byte {
	key, err := files.Read(paths.KeyBeside(File(state)), 64)
	if err != nil {
		return nil
	}
	return key
}

func sealOf(key []byte, body string) string { return paths.PlainMAC(key, name+"\x00"+body) }

// settledAt returns when what the note is made from was last written: the settings in force,
// and the record of the installation.
func settledAt(state string) (at int64) {
	for _, name := range []string{"accepted.json", "installation"} {
		if info, err := os.Lstat(filepath.Join(state, name)); err == nil {
			at = max(at, info.ModTime().UnixNano())
		}
	}
	return at
}

func parseNote(text string) (note, error) {
	body, ok := strings.CutPrefix(text, firstLine+"\n")
	if !ok {
		return note{}, ErrDamaged
	}
	if body, ok = strings.CutSuffix(body, "\n"+lastLine+"\n"); !ok {
		return note{}, ErrDamaged
	}
	body, mac, _ := strings.Cut("\n"+body, seal)
	n := note{body: body, seal: mac}
	body, at, ok := strings.Cut(body, written)
	if n.at, _ = strconv.ParseInt(at, 10, 64); !ok || n.at <= 0 || strconv.FormatInt(n.at, 10) != at || !isWord(mac) {
		return note{}, ErrDamaged
	}
	if body == "" {
		return n, nil
	}
	for line := range strings.SplitSeq(body[1:], "\n") {
		agent, event, ok := strings.Cut(line, " ")
		if !ok || !isWord(agent) || !isWord(event) || len(n.covers) == maxCovers {
			return note{}, ErrDamaged
		}
		n.covers = append(n.covers, Cover{agent, event})
	}
	return n, nil
}

// isWord reports whether a text could be the name of an agent or an event: these have
// no white space and no control characters.
func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) < 0
}

// Write replaces the note if it says something else. A list that doesn't fit becomes
// "everything".
func Write(state string, covers []Cover) error {
	covers = slices.Clone(covers)
	slices.SortFunc(covers, func(a, b Cover) int {
		if c := strings.Compare(a.Agent, b.Agent); c != 0 {
			return c
		}
		return strings.Compare(a.Event, b.Event)
	})
	covers = slices.Compact(covers)
	if len(covers) > maxCovers || len(formatCovers(covers)) > maxSize/2 ||
		slices.ContainsFunc(covers, func(c Cover) bool { return !isWord(c.Agent) || !isWord(c.Event) }) {
		covers = []Cover{{Any, Any}}
	}
	file := File(state)
	key := readKey(state)
	switch old, err := Read(state); {
	case (err == nil || errors.Is(err, ErrUnsealed) && len(key) == 0) && slices.Equal(old, covers):
		return nil
	case files.IsNotPlainFile(err):
		if _, err := files.SetAside(file); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	// The clock may have been set back since.
	return files.Write(file, formatNote(covers, max(time.Now().UnixNano(), settledAt(state)), key))
}

// formatNote returns the text of a note. Without a key it has no seal.
func formatNote(covers []Cover, at int64, key []byte) []byte {
	body := formatCovers(covers) + written + strconv.FormatInt(at, 10)
	mac := "none"
	if len(key) > 0 {
		mac = sealOf(key, body)
	}
	return []byte(firstLine + body + seal + mac + "\n" + lastLine + "\n")
}

// formatCovers returns a line for each, with the line break before it.
func formatCovers(covers []Cover) string {
	var text []byte
	for _, c := range covers {
		text = append(text, "\n"+c.Agent+" "+c.Event...)
	}
	return string(text)
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
