// Package transcript reads what agents write down about their sessions: it
// tells what no hook reports. Titles, the agent's last words, that a person
// pressed Esc, how a command ended.
//
// A [Reader] follows one session. Each [Reader.Read] gives the facts that are
// new; what it costs depends on what was added, never on how large the record
// is: of a record it has not seen it reads the beginning (the first prompt)
// and the end.
//
// Paths come from agents and are not trusted: only a regular file that really
// lies below the agent's known store is opened, for reading, without waiting.
// Files are never written, locked or kept open. The text in facts is the
// agent's; whoever shows it must make it harmless.
//
// Not read, with the reason: OpenCode's and Codex's SQLite files (opening the
// live database of a running program means taking its locks; OpenCode's
// plugin reports the same, Codex writes its names into session_index.jsonl as
// well).
package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// Kind is what a fact is about.
type Kind string

// The kinds of facts.
const (
	Title       Kind = "title"       // Source, Text
	Prompt      Kind = "prompt"      // Text: what a person asked
	Message     Kind = "message"     // Text: what the agent said
	TurnStarted Kind = "turnStarted" // Turn
	TurnEnded   Kind = "turnEnded"   // Turn; Failed with Text: the model could not be asked
	Interrupted Kind = "interrupted" // Turn: a person stopped it
	CallBegan   Kind = "callBegan"   // Call, Tool, Input: the call is written down
	CallEnded   Kind = "callEnded"   // Call; Failed, Exit, Text: its result is written down
	Decided     Kind = "decided"     // Call; Denied: a person answered its prompt
	Reviews     Kind = "reviews"     // Reviewer: who decides about permission requests from now on
)

// Fact is one thing a transcript says.
type Fact struct {
	Kind   Kind      `json:"kind"`
	At     time.Time `json:"at,omitzero"` // when the agent says it was; zero when it does not
	Turn   string    `json:"turn,omitempty"`
	Source string    `json:"source,omitempty"` // of a title: see agent.TitleSources
	Text   string    `json:"text,omitempty"`
	Call   string    `json:"call,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Input  []byte    `json:"input,omitempty"` // of a call, bounded
	Exit   int       `json:"exit,omitempty"`
	Failed bool      `json:"failed,omitempty"`
	Denied bool      `json:"denied,omitempty"`
	// Reviewer is who decides about permission requests.
	Reviewer event.Reviewer `json:"reviewer,omitempty"`
	// Early says that the fact stands at the beginning of a record whose
	// middle was not read: good for the first prompt, no news otherwise.
	Early bool `json:"early,omitempty"`
	// First says that it was there when the record was first read: what it
	// tells happened before anybody looked.
	First bool `json:"first,omitempty"`
}

// Env is where an agent's store is looked for.
type Env struct {
	Home string
	// Getenv looks a variable of the agent's environment up; may be nil.
	Getenv func(string) string
}

// ErrOutside says that a path does not lie in the agent's store.
var ErrOutside = errors.New("lies outside the agent's own store")

// ErrUnknown says that nothing is known about the agent's records.
var ErrUnknown = errors.New("no readable record is known")

var sessionID = lazyregexp.New(`^[A-Za-z0-9_-]{1,200}$`)

// Reader follows the records of one session.
type Reader struct {
	session string
	tails   []*Tail
}

// Open finds the records of a session. path is what the agent said its
// transcript is, or empty: then the store is searched by the session's id. It
// is an error when there is nothing to read, or it must not be read.
func Open(spec *agent.TranscriptSpec, session, path string, env Env) (*Reader, error) {
	if spec == nil || spec.Format == "" {
		return nil, ErrUnknown
	}
	parse, ok := formats[spec.Format]
	if !ok {
		return nil, fmt.Errorf("transcript format %q is not known; use one of %s", spec.Format, strings.Join(Formats(), ", "))
	}
	root := agent.HookFile{Path: spec.Root, Env: spec.Env, EnvDir: spec.EnvDir}.Resolve(env.Home, "", env.Getenv)
	if root == "" {
		return nil, ErrUnknown
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("%s: the agent's store cannot be found: %w", spec.Root, err)
	}
	if path == "" {
		if path = findRecord(root, spec.Find, session); path == "" {
			return nil, ErrUnknown
		}
	}
	real, err := realPathWithin(root, path)
	if err != nil {
		return nil, err
	}
	r := &Reader{session: session, tails: []*Tail{newTail(real, root, parse, session)}}
	for _, name := range spec.Names {
		parse, ok := formats[name.Format]
		if !ok {
			continue
		}
		top, file := filepath.Dir(root), filepath.Join(filepath.Dir(root), name.File)
		if strings.HasPrefix(name.File, ".") {
			top, file = root, filepath.Join(filepath.Dir(real), name.File)
		}
		r.tails = append(r.tails, newTail(file, top, parse, session))
	}
	return r, nil
}

// findRecord is the newest record of a session by its id.
func findRecord(root, pattern, session string) string {
	if pattern == "" || !sessionID.MatchString(session) {
		return ""
	}
	glob := filepath.Join(escapePattern(root), strings.ReplaceAll(pattern, "{session}", session))
	found, err := filepath.Glob(glob)
	if err != nil || len(found) == 0 {
		return ""
	}
	sort.Strings(found)
	return found[len(found)-1]
}

// escapePattern keeps a directory's own special characters from being a pattern.
func escapePattern(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// realPathWithin is the real path of a file if it lies below root. A file that is not
// there yet may still come: its directory counts then.
func realPathWithin(root, path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q: %w", path, ErrOutside)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		dir, derr := filepath.EvalSymlinks(filepath.Dir(path))
		if derr != nil {
			return "", fmt.Errorf("%s: %w", path, derr)
		}
		real, err = filepath.Join(dir, filepath.Base(path)), nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	below, err := filepath.Rel(root, real)
	if err != nil || below == "." || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("%s: %w", path, ErrOutside)
	}
	return real, nil
}

// Path is the record that is followed.
func (r *Reader) Path() string { return r.tails[0].path }

// Files are the files that facts come from; some may not be there yet.
func (r *Reader) Files() []string {
	out := make([]string, len(r.tails))
	for i, t := range r.tails {
		out[i] = t.path
	}
	return out
}

// Read gives the facts that are new since the last Read, in the order of the
// record. A file that is not there has none. After an error the next Read
// tries again.
func (r *Reader) Read() ([]Fact, error) {
	var facts []Fact
	var errs []error
	for i, t := range r.tails {
		found, err := t.Read()
		facts = append(facts, found...)
		if err != nil && (i == 0 || !errors.Is(err, os.ErrNotExist)) {
			errs = append(errs, err)
		}
	}
	return facts, errors.Join(errs...)
}

// Formats lists the names of the formats that can be read.
func Formats() []string {
	names := make([]string, 0, len(formats))
	for name := range formats {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
