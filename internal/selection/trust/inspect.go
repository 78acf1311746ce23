package trust

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// View is what you see before you trust a project.
type View struct {
	Root     string
	Status   Status
	Hash     string // what Trust takes
	Problem  string // why it cannot be trusted as it is
	Files    []File // covered
	Runs     []Run
	Replaces []string // ids of global hooks that its own replace
	Changes  []Change // against what is in force
}

// Run is one hook of the project.
type Run struct {
	ID, Agent, HookType, Handler, Target string
	Enabled                              bool
	Files                                []string // covered files it names
	// ProjectCode says that it may go on to run code of the project that trust
	// cannot pin down: such code can change without anybody being asked.
	ProjectCode bool
}

// Change is one difference to the trusted content.
type Change struct {
	What string // added, changed, removed
	Path string // of a file, or
	Hook string // id of a hook
}

func (c Change) String() string {
	if c.Hook != "" {
		return fmt.Sprintf("hook %s %s", c.Hook, c.What)
	}
	return c.Path + " " + c.What
}

// Inspect reads a project again and returns what it has. globals are the user's own hooks,
// whose ids the project may take over.
func (s *Store) Inspect(root string, globals []hook.Registration) (View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := realRoot(root)
	if err != nil {
		return View{}, err
	}
	delete(s.projects, root)
	p, rec, err := s.readProject(root)
	v := View{Root: root, Status: statusOf(root, p, rec), Files: p.content.files}
	if err != nil {
		v.Status = Untrusted // a record nobody can read trusts nothing
	}
	if p.err != nil {
		v.Problem = p.err.Error()
	} else {
		v.Hash = p.content.contentHash()
	}
	would := &TrustedContent{Root: root, copy: s.copyDir(p.key, p.content.contentHash()),
		files: pathSet(p.content.files)}
	for _, reg := range p.content.hooks {
		v.Runs = append(v.Runs, would.describeRun(reg))
		if i := slices.IndexFunc(globals, func(g hook.Registration) bool { return g.ID == reg.ID }); i >= 0 &&
			!globals[i].Locked {
			v.Replaces = append(v.Replaces, reg.ID)
		}
	}
	if was := rec.lastTrusted(root, p.branch); was != nil && v.Status == Changed && p.err == nil {
		v.Changes = append(fileChanges(was.Files, p.content.files),
			s.hookChanges(s.copyDir(p.key, was.Hash), p.content.hooks)...)
	}
	return v, nil
}

// describeRun says what one hook would run if the content were trusted.
func (f *TrustedContent) describeRun(reg hook.Registration) Run {
	r := Run{ID: reg.ID, Agent: reg.Agent, HookType: reg.HookType, Handler: reg.Handler, Target: reg.Target,
		Enabled: reg.IsEnabled()}
	for _, rel := range mentionedPaths(f.Root, reg) {
		if f.files[rel] {
			r.Files = append(r.Files, rel)
		}
	}
	r.ProjectCode = !f.isPinned(reg)
	return r
}

func fileChanges(was, is []File) []Change {
	var list []Change
	old := map[string]File{}
	for _, f := range was {
		old[f.Path] = f
	}
	for _, f := range is {
		before, there := old[f.Path]
		delete(old, f.Path)
		switch {
		case !there:
			list = append(list, Change{What: "added", Path: f.Path})
		case before != f:
			list = append(list, Change{What: "changed", Path: f.Path})
		}
	}
	for path := range old {
		list = append(list, Change{What: "removed", Path: path})
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func (s *Store) hookChanges(copyDir string, is []hook.Registration) []Change {
	var was []hook.Registration
	if data, err := userfile.ReadFile(filepath.Join(copyDir, hooksFile), maxFileSize); err == nil {
		was, _ = s.parse(data)
	}
	byID := func(list []hook.Registration, id string) *hook.Registration {
		for i := range list {
			if list[i].ID == id {
				return &list[i]
			}
		}
		return nil
	}
	var list []Change
	for i := range is {
		switch before := byID(was, is[i].ID); {
		case before == nil:
			list = append(list, Change{What: "added", Hook: is[i].ID})
		case !reflect.DeepEqual(*before, is[i]):
			list = append(list, Change{What: "changed", Hook: is[i].ID})
		}
	}
	for i := range was {
		if byID(is, was[i].ID) == nil {
			list = append(list, Change{What: "removed", Hook: was[i].ID})
		}
	}
	return list
}

// Texts returns the active and the current text of a covered file, to show the difference;
// nil if there is none.
func (s *Store) Texts(root, path string) (trusted, now []byte) {
	f := s.InForce(root)
	if f.files[path] {
		trusted, _ = userfile.ReadFile(filepath.Join(f.copy, path), maxFileSize)
	}
	now, _ = userfile.ReadFile(filepath.Join(f.Root, filepath.FromSlash(path)), maxFileSize)
	return bytes.Clone(trusted), now
}
