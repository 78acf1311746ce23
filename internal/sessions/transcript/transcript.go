// Package transcript reads what agents write about their sessions and no hook reports:
// titles, the agent's final message, that you pressed Esc, how a command ended.
//
// A [Reader] follows one session. Each [Reader.Read] returns the facts that are new; what it
// costs depends on what was added, never on how large the record is: of a record it hasn't
// seen it reads the beginning (the first prompt) and the end.
//
// Paths come from agents and aren't trusted: only a regular file that really is below the
// agent's known store is opened, for reading, without waiting. Files are never written,
// locked or kept open. The text in facts is the agent's: escape it before showing it.
//
// Not read, with the reason: OpenCode's and Codex's SQLite files (opening the live database
// of a running program means taking its locks; OpenCode's plugin reports the same, Codex
// writes its names into session_index.jsonl as well).
package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent"
)

// Env is where an agent's store is looked for.
type Env struct {
	Home string
	// Getenv looks a variable of the agent's environment up; may be nil.
	Getenv func(string) string
}

// ErrUnknown says that nothing is known about the agent's records.
var ErrUnknown = errors.New("no readable record is known")

var sessionID = lazyregexp.New(`^[A-Za-z0-9_-]{1,200}$`)

// Reader follows the records of one session.
type Reader struct {
	session string
	tails   []*Tail
}

// Open finds the records of a session. path is what the agent said its transcript is, or
// empty: then the store is searched by the session's id. It fails if there is nothing to
// read, or it must not be read.
func Open(spec *agent.TranscriptSpec, session, path string, env Env) (*Reader, error) {
	if spec == nil || spec.Format == "" {
		return nil, ErrUnknown
	}
	parse, ok := formats[spec.Format]
	if !ok {
		return nil, fmt.Errorf("transcript format %q is not known; use one of %s", spec.Format,
			strings.Join(Formats(), ", "))
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
	resolved, err := realPathWithin(root, path)
	if err != nil {
		return nil, err
	}
	r := &Reader{session: session, tails: []*Tail{newTail(resolved, root, parse, session)}}
	for _, name := range spec.Names {
		parse, ok := formats[name.Format]
		if !ok {
			continue
		}
		top, file := filepath.Dir(root), filepath.Join(filepath.Dir(root), name.File)
		if strings.HasPrefix(name.File, ".") {
			top, file = root, filepath.Join(filepath.Dir(resolved), name.File)
		}
		r.tails = append(r.tails, newTail(file, top, parse, session))
	}
	return r, nil
}

// findRecord returns the newest record of a session by its id.
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

// Path returns the record that is followed.
func (r *Reader) Path() string { return r.tails[0].path }

// Files returns the files that facts come from; some may not be there yet.
func (r *Reader) Files() []string {
	out := make([]string, len(r.tails))
	for i, t := range r.tails {
		out[i] = t.path
	}
	return out
}

// Tells reports whether a row of one of its files contains a fact.
func (r *Reader) Tells(file string, row []byte) bool {
	told := false
	for _, t := range r.tails {
		if t.path == file {
			t.format.row(row, t.session, func(Fact) { told = true })
		}
	}
	return told
}

// Read gives the facts that are new since the last Read, in the order of the
// record; with an error those of the files that could be read. A file that is not
// there has none. After an error the next Read tries again.
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
