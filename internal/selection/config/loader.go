package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/similar"
	"github.com/hookmux/hookmux/internal/policy/fleetpolicy"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

const (
	fileName    = "config.json"
	projectDir  = ".hookmux"
	maxFile     = 256 << 10
	maxProjects = 256 // remembered at once
)

// Options says where settings are.
type Options struct {
	System string // folder of the system's file, such as /etc/hookmux
	User   string // folder of the user's file
	State  string // where last good versions are kept; "" keeps them in memory only

	// Accepted says what of the user's file is in force. Nil: whatever the file
	// holds.
	Accepted *accepted.Store

	// Environ is the environment to read HOOKMUX_… from. Nil for a daemon that
	// started by itself: an agent's environment must not set anything.
	Environ []string
}

// Loader reads the layers and keeps them current. Safe for concurrent use.
type Loader struct {
	opt Options

	mu       sync.Mutex
	system   *layer
	user     *layer
	environ  *layer
	fleet    fleetLayer
	base     *Settings // without a project
	projects map[string]*project
}

type project struct {
	layer             *layer
	base              *Settings // what trusted and untrusted were made from
	trusted, distrust *Settings
}

// New makes a loader; nothing is read before it is asked.
func New(opt Options) *Loader {
	l := &Loader{opt: opt, projects: map[string]*project{}}
	l.system = l.newLayer(System, filepath.Join(opt.System, fileName), opt.System != "")
	l.user = l.newLayer(User, filepath.Join(opt.User, fileName), opt.User != "")
	l.environ = environLayer(opt.Environ)
	l.fleet = fleetLayer{source: fleetpolicy.Source{State: opt.State}, layer: layer{kind: Fleet}}
	if opt.Accepted != nil && opt.User != "" {
		l.user.accepted = opt.Accepted.File(l.user.path, maxFile, l.strengthen, CheckText)
	}
	return l
}

// Settings returns what is in force outside of any project. Costs a stat per file
// when nothing changed; the same pointer comes back then.
func (l *Loader) Settings() *Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current()
}

// Reload looks at the files again and reports whether anything changed. It is
// what Settings does; a watcher may call it to learn of changes early.
func (l *Loader) Reload() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.base
	return l.current() != before
}

func (l *Loader) current() *Settings {
	changed := l.system.reload()
	changed = l.user.reload() || changed
	changed = l.fleet.reload() || changed
	if l.base != nil && !changed {
		return l.base
	}
	s := &Settings{values: map[string]set{}}
	for _, layer := range []*layer{l.system, l.user, l.environ} {
		maps.Copy(s.values, layer.values)
		s.problems = append(s.problems, layer.problems...)
	}
	l.base = l.fleet.layOver(s)
	return l.base
}

// For returns the settings that are active in the project at root, the folder that contains
// .hookmux; "" is no project. trusted says whether you trusted exactly what is there: some
// tightening needs that.
func (l *Loader) For(root string, trusted bool) *Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	base := l.current()
	if root == "" {
		return base
	}
	p := l.projects[root]
	if p == nil {
		if len(l.projects) >= maxProjects {
			clear(l.projects) // rare, and only costs reading again
		}
		p = &project{layer: l.newLayer(Project, filepath.Join(root, projectDir, fileName), true)}
		l.projects[root] = p
	}
	if p.layer.reload() || p.base != base {
		p.base, p.trusted, p.distrust = base, nil, nil
	}
	made := &p.distrust
	if trusted {
		made = &p.trusted
	}
	if *made == nil {
		*made = tightened(base, p.layer, trusted)
	}
	return *made
}

func tightened(base *Settings, from *layer, trusted bool) *Settings {
	if len(from.values) == 0 && len(from.problems) == 0 {
		return base
	}
	s := &Settings{values: maps.Clone(base.values), problems: append(base.Problems(), from.problems...), policy: base.policy}
	for _, name := range from.names() {
		wish := from.values[name]
		have, key, _ := base.lookupKey(name)
		value, err := key.tighten(have.value, wish.value, trusted)
		if err != nil {
			s.problems = append(s.problems, Problem{File: from.path, Line: wish.origin.Line, Text: err.Error()})
			continue
		}
		if Format(value) != Format(have.value) {
			s.values[name] = set{value, wish.origin}
		}
	}
	return s
}

func (l *Loader) newLayer(kind Layer, path string, present bool) *layer {
	if !present {
		return &layer{kind: kind}
	}
	return &layer{kind: kind, path: path, source: &userfile.Source{Path: path, Limit: maxFile},
		good: accepted.LastGood{Path: accepted.LastGoodPath(l.opt.State, "config", path)}}
}

// AcceptedTSHooks returns the TypeScript hooks that the accepted text of the user's file
// names; nil where files count as they are.
func (l *Loader) AcceptedTSHooks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.user.accepted == nil {
		return nil
	}
	l.current()
	values, _, err := l.user.read(l.user.acceptedText)
	if err != nil {
		return nil
	}
	list, _ := values[Modules].value.([]string)
	return slices.Clone(list)
}

// File returns the file of a layer; root names the project.
func (l *Loader) File(kind Layer, root string) (string, error) {
	switch {
	case kind == System && l.opt.System != "":
		return l.system.path, nil
	case kind == User && l.opt.User != "":
		return l.user.path, nil
	case kind == Project && root != "":
		return filepath.Join(root, projectDir, fileName), nil
	case kind == Project:
		return "", errors.New("not in a project; run it in a folder with .hookmux, or leave --project out")
	}
	return "", fmt.Errorf("%s has no file to write to", kind)
}

// Change describes what a writer did to a file, byte by byte, so that trust can follow
// exactly that.
type Change struct {
	File          string
	Before, After []byte // Before is nil when there was no file
	Waits         bool   // other changes of the file wait to be accepted
}

// Set writes one setting into a layer's file. In a project only what tightens
// is taken.
func (l *Loader) Set(kind Layer, root, name, text string) (Change, error) {
	key, ok := Find(name)
	if !ok {
		return Change{}, Unknown(name)
	}
	raw, err := key.FromText(text)
	if err != nil {
		return Change{}, err
	}
	file, err := l.File(kind, root)
	if err != nil {
		return Change{}, err
	}
	if kind == Project {
		value, _ := key.parse(raw)
		have, _, _ := l.Settings().lookupKey(name)
		if _, err := key.tighten(have.value, value, true); err != nil {
			return Change{}, fmt.Errorf("%s: %w; use the user's settings for it", file, err)
		}
	}
	if kind != User {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return Change{}, err
		}
	}
	return l.changeFile(kind, file, func(old []byte) ([]byte, error) {
		return edit.Set(old, []string{name}, raw)
	})
}

// Unset takes one setting out of a layer's file; a setting that is not there is
// no error, and Before and After are the same then.
func (l *Loader) Unset(kind Layer, root, name string) (Change, error) {
	file, err := l.File(kind, root)
	if err != nil {
		return Change{}, err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return Change{File: file}, nil
	}
	return l.changeFile(kind, file, func(old []byte) ([]byte, error) {
		return edit.Remove(old, []string{name})
	})
}

// changeFile writes a file. A change of the user's own file is accepted with it, and
// nothing else in that file.
func (l *Loader) changeFile(kind Layer, file string, fn func([]byte) ([]byte, error)) (Change, error) {
	done, err := writeChange(file, fn)
	if err == nil && kind == User && l.user.accepted != nil {
		done.Waits, err = l.user.accepted.FollowWrite(done.Before, done.After, fn)
	}
	return done, err
}

// BrokenFileError says that a file can't be changed because it isn't valid.
type BrokenFileError struct {
	File string
	At   *edit.SyntaxError
}

func (e *BrokenFileError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s; correct it first", e.File, e.At.Line, e.At.Col, e.At.Msg)
}

func writeChange(file string, fn func([]byte) ([]byte, error)) (Change, error) {
	done := Change{File: file}
	err := userfile.WriteFile(file, func(old []byte) ([]byte, error) {
		fresh, err := fn(old)
		var at *edit.SyntaxError
		if errors.As(err, &at) {
			return nil, &BrokenFileError{file, at}
		}
		done.Before, done.After = bytes.Clone(old), bytes.Clone(fresh)
		return fresh, err
	})
	return done, err
}

// Changed reports whether the file says something else now.
func (c Change) Changed() bool { return !bytes.Equal(c.Before, c.After) }

// environLayer reads HOOKMUX_GUARD_SECRETS and its like. Names that are no keys
// are other programs' or hookmux's own business, except those of guards.
func environLayer(environ []string) *layer {
	l := &layer{kind: Environment, values: map[string]set{}}
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		suffix, ok := strings.CutPrefix(name, "HOOKMUX_")
		if !ok {
			continue
		}
		key, ok := keyOfVariable(suffix)
		if !ok {
			if meantAsSetting(suffix) {
				text := name + " sets nothing: there's no such setting"
				if near := similar.Nearest(name, variables()); near != "" {
					text += "; did you mean " + near + "?"
				} else {
					text += "; `hookmux config list --all` lists them"
				}
				l.problems = append(l.problems, Problem{Text: text})
			}
			continue
		}
		raw, err := key.FromText(text)
		var value any
		if err == nil {
			value, err = key.parse(raw)
		}
		if err == nil && Sealed(key.Name) {
			err = errSealed(key.Name)
		}
		if err != nil {
			if key.Unread != nil {
				err = key.notRead(err)
				l.values[key.Name] = set{key.Unread, Origin{Layer: Environment, File: name}}
			}
			l.problems = append(l.problems, Problem{Text: fmt.Sprintf("%s: %v; correct or unset the variable", name,
				err)})
			continue
		}
		l.values[key.Name] = set{value, Origin{Layer: Environment, File: name}}
	}
	return l
}

// Variables returns the variables of an environment that set or were meant to set a key.
func Variables(environ []string) []string {
	var list []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		suffix, ok := strings.CutPrefix(name, "HOOKMUX_")
		if _, known := keyOfVariable(suffix); ok && (known || meantAsSetting(suffix)) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// meantAsSetting reports whether a variable's name can only be a mistyped setting's.
func meantAsSetting(suffix string) bool {
	return strings.HasPrefix(suffix, "GUARD_") || strings.HasPrefix(suffix, "APPROVALS_")
}

// Variable returns the name of the environment variable that sets a key.
func Variable(key string) string {
	return "HOOKMUX_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

func variables() []string {
	var list []string
	for _, k := range table {
		list = append(list, Variable(k.Name))
	}
	return list
}

func keyOfVariable(suffix string) (Key, bool) {
	for _, k := range table {
		own := strings.TrimPrefix(Variable(k.Name), "HOOKMUX_")
		if suffix == own {
			return k, true
		}
		if rest, ok := strings.CutPrefix(suffix, own+"_"); ok && k.PerName {
			return Find(k.Name + "." + strings.ReplaceAll(strings.ToLower(rest), "_", "-"))
		}
	}
	return Key{}, false
}
