// Package registry keeps the user's hooks: one file for the user, one per project, JSON
// with comments.
//
// It finds a project's file, reads both, checks every registration, merges them by id and
// returns the hooks in the order in which they run. If a file has a mistake, its last good
// version stays active, also across restarts, and the mistake is reported with file and
// line. Changes are spliced into the text under a lock: comments stay, and concurrent
// writers don't lose each other's changes. Whether a project is trusted isn't decided here.
package registry

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// Options says where hooks are and what is known.
type Options struct {
	GlobalFile string // the user's hooks.json
	State      string // where last good versions are kept; "" keeps them in memory only
	Home       string
	// Accepted says what of the user's file is in force. Nil: whatever the file
	// holds.
	Accepted *accepted.Store
	OwnDirs  []string // hookmux's own folders: never a project
	Known    Known

	// KnownProject reports whether dir counts as a project even without a
	// .hookmux folder: one whose trusted hooks were deleted still has them.
	KnownProject func(dir string) bool
}

// Registry reads hooks and keeps them current. Safe for concurrent use.
type Registry struct {
	opt Options
	uid int

	mu     sync.Mutex
	global *file
	files  map[string]*file // of projects, by path
	sets   map[string]*made
}

type made struct {
	set             *Set
	global, project int // versions it was made of
}

// maxProjects is how many are remembered at once.
const maxProjects = 256

// maxFile is the largest file of hooks.
const maxFile = 4 << 20

// New makes a registry; nothing is read before it is asked.
func New(opt Options) *Registry {
	r := &Registry{opt: opt, uid: os.Getuid(), files: map[string]*file{}, sets: map[string]*made{}}
	r.global = r.newFile(opt.GlobalFile, opt.GlobalFile, Global)
	if opt.Accepted != nil && opt.GlobalFile != "" {
		r.global.accepted = opt.Accepted.File(opt.GlobalFile, maxFile, Strengthen(opt.Known), CheckText(opt.Known))
		r.global.good.Path = ""
	}
	return r
}

// The scopes of a hook.
const (
	Global  = "global"
	Project = "project"
)

// Entry is a registration in force, with where it was written.
type Entry struct {
	hook.Registration
	Scope string
	File  string
	Line  int
	// Unaccepted says that it hasn't been accepted: only its denials are active.
	Unaccepted bool
}

// Set is the hooks of one place at one moment, in the order in which they run.
// It never changes; the same pointer means the same hooks.
type Set struct {
	Hooks    []Entry
	Problems []Problem
	Replaced []string // ids of global hooks that the project replaces
}

// Registrations returns the hooks alone.
func (s *Set) Registrations() []hook.Registration {
	list := make([]hook.Registration, len(s.Hooks))
	for i := range s.Hooks {
		list[i] = s.Hooks[i].Registration
	}
	return list
}

// Find returns the hook with an id.
func (s *Set) Find(id string) (Entry, bool) {
	for _, e := range s.Hooks {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// Load returns the global hooks merged with those in a project's file; "" for none. shownAs
// is the displayed name of the file, if it's a copy. Load costs a stat per file if nothing
// changed.
func (r *Registry) Load(projectFile, shownAs string) *Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.global.reload()
	var project *file
	version := 0
	if projectFile != "" {
		project = r.projectFile(projectFile, shownAs)
		project.reload()
		version = project.version
	}
	m := r.sets[projectFile]
	if m == nil || m.global != r.global.version || m.project != version {
		m = &made{merge(r.global, project), r.global.version, version}
		r.sets[projectFile] = m
	}
	return m.set
}

func (r *Registry) projectFile(path, shownAs string) *file {
	if f := r.files[path]; f != nil {
		return f
	}
	if len(r.files) >= maxProjects {
		clear(r.files) // rare, and only costs reading again
		clear(r.sets)
	}
	if shownAs == "" {
		shownAs = path
	}
	f := r.newFile(path, shownAs, Project)
	r.files[path] = f
	return f
}

func merge(global, project *file) *Set {
	s := &Set{Problems: slices.Clone(global.problems)}
	if project == nil {
		s.Hooks = slices.Clone(global.hooks)
	} else {
		s.Problems = append(s.Problems, project.problems...)
		replaced := map[string]bool{}
		var own []Entry
		for _, p := range project.hooks {
			i := slices.IndexFunc(global.hooks, func(g Entry) bool { return g.ID == p.ID })
			if i >= 0 && global.hooks[i].Locked {
				s.Problems = append(s.Problems, Problem{File: p.File, Line: p.Line,
					Text: fmt.Sprintf("%s: the global hook of this id is locked and stays; give this one another id",
						p.ID)})
				continue
			}
			if i >= 0 {
				replaced[p.ID] = true
				s.Replaced = append(s.Replaced, p.ID)
			}
			own = append(own, p)
		}
		for _, g := range global.hooks {
			if !replaced[g.ID] {
				s.Hooks = append(s.Hooks, g)
			}
		}
		s.Hooks = append(s.Hooks, own...)
	}
	slices.SortStableFunc(s.Hooks, func(a, b Entry) int { return cmp.Compare(a.Order(), b.Order()) })
	return s
}

// file is one file of hooks as it is in force.
type file struct {
	source   userfile.Source
	shown    string
	scope    string
	known    Known
	good     accepted.LastGood
	hooks    []Entry
	problems []Problem
	version  int
	// accepted says what of the file is in force, in place of source and good.
	accepted *accepted.File
}

func (r *Registry) newFile(path, shown, scope string) *file {
	f := &file{source: userfile.Source{Path: path, Limit: maxFile}, shown: shown, scope: scope, known: r.opt.Known}
	// A copy in the state folder is a last good version itself.
	if r.opt.State != "" && !strings.HasPrefix(path, r.opt.State+string(filepath.Separator)) {
		f.good.Path = accepted.LastGoodPath(r.opt.State, "hooks", path)
	}
	return f
}

func (f *file) reload() {
	if f.source.Path == "" {
		return
	}
	if f.accepted != nil {
		f.reloadAccepted()
		return
	}
	data, changed, err := f.source.Read()
	if !changed {
		return
	}
	f.version++
	f.good.Read(maxFile)
	f.problems = nil
	if err == nil && data == nil { // taken away on purpose
		f.hooks = nil
		f.good.Drop()
		return
	}
	var list []Parsed
	var problems []Problem
	if err != nil {
		problems = []Problem{{Text: fmt.Sprintf("cannot be read (%v)", err)}}
	} else {
		list, problems = Parse(data, f.known)
	}
	if len(problems) == 0 {
		f.hooks = f.entries(list)
		f.keep(data)
		return
	}
	instead := "the other hooks of the file are in force; correct it"
	switch {
	case f.good.Text != nil:
		instead = "the last good version of the file stays in force; correct it"
		list, _ = Parse(f.good.Text, f.known)
	case len(list) == 0:
		instead = "no hook of the file is in force; correct it"
	}
	f.hooks = f.entries(list)
	for _, p := range problems {
		p.File, p.Text = f.shown, p.Text+"; "+instead
		f.problems = append(f.problems, p)
	}
}

// reloadAccepted takes the active version of the file. Errors in the file itself are
// reported all the same.
func (f *file) reloadAccepted() {
	view, changed := f.accepted.Read()
	if !changed {
		return
	}
	f.version++
	f.problems = nil
	list, _ := Parse(view.InForce, f.known)
	known, _ := Parse(view.Accepted, f.known)
	f.hooks = f.entries(list)
	for i := range f.hooks {
		f.hooks[i].Unaccepted = indexOf(known, f.hooks[i].ID) < 0
	}
	problems := []Problem{{Text: fmt.Sprintf("cannot be read (%v)", view.LiveErr)}}
	if view.LiveErr == nil {
		_, problems = Parse(view.Live, f.known)
	}
	for _, p := range problems {
		p.File, p.Text = f.shown, p.Text+"; the last accepted version stays active until you fix it"
		f.problems = append(f.problems, p)
	}
}

func (f *file) keep(data []byte) {
	if err := f.good.Keep(data); err != nil {
		f.problems = append(f.problems, Problem{File: f.good.Path,
			Text: fmt.Sprintf("cannot keep the last good hooks (%v); make room or permit writing", err)})
	}
}

func (f *file) entries(list []Parsed) []Entry {
	made := make([]Entry, len(list))
	for i, p := range list {
		made[i] = Entry{Registration: p.Registration, Scope: f.scope, File: f.shown, Line: p.Line}
	}
	return made
}
