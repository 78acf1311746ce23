// Package ruleset reads the active rules: the administrator's, the user's, those of packs,
// and those of trusted projects.
//
// Contract: nothing that happens to a file weakens what is active. Of the user's files,
// what was accepted is active, and additions that only deny or ask are active at once. If
// an administrator's file can't be read any more, its last good version stays. Whatever is
// wrong is reported with its place.
package ruleset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/policy/fleetpolicy"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// FolderName is the folder of rules, in each of the places that have one.
const FolderName = "rules"

// maxFile is the largest file of rules that is read.
const maxFile = 4 << 20

// Options says where rules are.
type Options struct {
	System string // the administrator's folder of settings
	User   string // the user's folder of settings
	State  string // where last good versions are kept; "" keeps them in memory only
	// Accepted says what of the user's files is in force. Nil: whatever they hold.
	Accepted *accepted.Store
	// Packs are the packs that you added. Nil: there are none.
	Packs Packs
}

// Packs are rules from outside that you added.
type Packs interface {
	// Sources are their files, and what is wrong with some.
	Sources() ([]rules.Source, []rules.Problem)
	// Stamp changes whenever others may count.
	Stamp() string
	// Listed: a list says which there are, and be it that there are none.
	Listed() bool
}

// Loaded is rules that count, and what is wrong with others. It never changes.
type Loaded struct {
	Rules []*rules.Rule
	// Programs are descriptions of programs, to be laid over the built-in table.
	Programs []*programs.Program
	Problems []rules.Problem
	// Policy is the version of the fleet's policy among the rules; 0: there is none.
	Policy int64
}

// Loader reads files of rules and keeps them current. Safe for concurrent use.
type Loader struct {
	opt Options

	mu       sync.Mutex
	system   map[string]*plainFile
	user     map[string]*plainFile    // where nothing has to be accepted
	checked  map[string]*acceptedFile // where it has
	programs map[string]*programFile
	stamp    string  // of packs
	packs    *Loaded // nil: they were not read yet
	fleet    fleetpolicy.Source
	policy   *Loaded         // the fleet's; nil: there is none
	ignored  []rules.Problem // files that are not read
	base     *Loaded
	projects map[*trust.TrustedContent]*Loaded
	lastOf   map[string]*Loaded // of projects by their roots, as they counted last
}

// New makes a loader; nothing is read before it is asked.
func New(o Options) *Loader {
	return &Loader{opt: o, system: map[string]*plainFile{}, user: map[string]*plainFile{},
		checked: map[string]*acceptedFile{}, programs: map[string]*programFile{}, projects: map[*trust.TrustedContent]*Loaded{},
		lastOf: map[string]*Loaded{}, fleet: fleetpolicy.Source{State: o.State}}
}

// Base gives the rules that count everywhere. The same pointer comes back while
// nothing changed.
func (l *Loader) Base() *Loaded {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.readFolder(l.system, filepath.Join(l.opt.System, FolderName), rules.System)
	if l.opt.Accepted == nil {
		changed = l.readFolder(l.user, l.userFolder(), rules.User) || changed
	} else {
		changed = l.readAccepted() || changed
	}
	changed = l.readPrograms() || changed
	changed = l.readPacks() || changed
	changed = l.readPolicy() || changed
	changed = l.readIgnored() || changed
	if changed || l.base == nil {
		l.base = l.join()
	}
	return l.base
}

func (l *Loader) userFolder() string { return filepath.Join(l.opt.User, FolderName) }

// join orders all rules; unaccepted ones come last.
func (l *Loader) join() *Loaded {
	out := &Loaded{Problems: slices.Clone(l.ignored)}
	var last []*rules.Rule
	var lists [][]*rules.Rule
	add := func(one *Loaded) {
		lists = append(lists, one.Rules)
		out.Problems = append(out.Problems, one.Problems...)
	}
	for _, f := range sortedFiles(l.system) {
		add(&f.loaded)
	}
	if l.policy != nil {
		add(l.policy)
		out.Policy = l.policy.Policy
	}
	for _, f := range sortedFiles(l.user) {
		add(&f.loaded)
	}
	for _, f := range sortedFiles(l.checked) {
		add(&f.loaded)
		last = append(last, f.added...)
	}
	for _, f := range sortedFiles(l.programs) {
		add(&f.loaded)
		out.Programs = append(out.Programs, f.loaded.Programs...)
	}
	if l.packs != nil {
		add(l.packs)
	}
	var twice []rules.Problem
	out.Rules, twice = rules.Unique(append(lists, last)...)
	out.Problems = slices.Concat(out.Problems, without(twice, out.Problems), namedAsPacks(out.Rules))
	return out
}

// namedAsPacks returns problems for rules named like a pack: switching one would switch
// both.
func namedAsPacks(list []*rules.Rule) []rules.Problem {
	packs := map[string]bool{}
	for _, r := range list {
		if pack, _, ok := strings.Cut(r.ID, "/"); ok && r.Layer == rules.Pack {
			packs[pack] = true
		}
	}
	var problems []rules.Problem
	for _, r := range list {
		if packs[r.ID] {
			problems = append(problems, rules.Problem{File: r.File, Line: r.Line, Column: r.Column,
				Text: fmt.Sprintf("the rule %s counts, but a pack has its name: who switches one switches both; give "+
					"the rule another id", r.ID)})
		}
	}
	return problems
}

func sortedFiles[T any](files map[string]T) []T {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	list := make([]T, len(names))
	for i, name := range names {
		list[i] = files[name]
	}
	return list
}

// readPolicy parses the fleet's policy when it changed.
func (l *Loader) readPolicy() bool {
	p, changed, err := l.fleet.Read()
	if !changed {
		return false
	}
	l.policy = &Loaded{Policy: p.Version}
	l.policy.Rules, l.policy.Problems = rules.Parse(p.Sources(p.Where())...)
	if err != nil {
		l.policy.Problems = append(l.policy.Problems, rules.Problem{File: fleetpolicy.FileName, Text: err.Error()})
	}
	return true
}

// readPacks parses the packs when they changed.
func (l *Loader) readPacks() bool {
	if l.opt.Packs == nil {
		return false
	}
	stamp := l.opt.Packs.Stamp()
	if l.packs != nil && stamp == l.stamp {
		return false
	}
	before := l.packs
	l.stamp, l.packs = stamp, &Loaded{}
	files, wrong := l.opt.Packs.Sources()
	l.packs.Rules, l.packs.Problems = rules.Parse(files...)
	l.packs.Problems = append(l.packs.Problems, wrong...)
	if before != nil && len(before.Rules) > 0 {
		l.keepPacks(before, len(files) == 0 && (!l.opt.Packs.Listed() || len(wrong) > 0), wrong)
	}
	return true
}

// keepPacks keeps the rules of packs active that something other than you removed: all of
// them, or those whose copy can't be used any more.
func (l *Loader) keepPacks(before *Loaded, all bool, wrong []rules.Problem) {
	kept := slices.DeleteFunc(slices.Clone(before.Rules), func(r *rules.Rule) bool {
		pack, _, _ := strings.Cut(r.ID, "/")
		isOf := func(p rules.Problem) bool { return filepath.Base(filepath.Dir(p.File)) == pack }
		return !all && !slices.ContainsFunc(wrong, isOf)
	})
	if len(kept) == 0 {
		return
	}
	l.packs.Rules = append(l.packs.Rules, kept...)
	l.packs.Problems = append(l.packs.Problems, rules.Problem{File: "packs",
		Text: "something took packs away that you took in; their rules count until the daemon ends: add the packs again"})
}

// maxProjects is how many projects are remembered at once.
const maxProjects = 256

// Project returns the rules of a project, from the trusted copy. They can only tighten: a
// rule that would allow is rejected.
func (l *Loader) Project(trusted *trust.TrustedContent) *Loaded {
	if trusted == nil {
		return &Loaded{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.projects[trusted]; known != nil {
		return known
	}
	if len(l.projects) >= maxProjects {
		clear(l.projects)
	}
	out := &Loaded{}
	if last := l.lastOf[trusted.Root]; trusted.Damaged && last != nil && len(last.Rules)+len(last.Programs) > 0 {
		out.Rules, out.Programs = last.Rules, last.Programs
		out.Problems = append(out.Problems, rules.Problem{File: filepath.Join(trusted.Root, FolderName),
			Text: "the trusted copy was damaged; the rules that were read from it count until the daemon ends"})
	}
	for _, rel := range trusted.RuleFiles() {
		name := filepath.Join(trusted.Root, rel)
		data, err := userfile.ReadFile(trusted.CopyOf(rel), maxFile)
		if err != nil {
			out.Problems = append(out.Problems, rules.Problem{File: name, Text: fmt.Sprintf("cannot be read: %v", err)})
			continue
		}
		list, wrong := rules.Parse(rules.Source{Name: name, Data: data, Layer: rules.Project})
		out.Rules = append(out.Rules, list...)
		out.Problems = append(out.Problems, wrong...)
	}
	projectPrograms(trusted, out)
	for _, rel := range trusted.IgnoredRules() {
		out.Problems = append(out.Problems, ignoredFile(filepath.Join(trusted.Root, rel)))
	}
	l.projects[trusted] = out
	if len(l.lastOf) >= maxProjects {
		clear(l.lastOf)
	}
	l.lastOf[trusted.Root] = out
	return out
}

// WithoutDuplicatesOf gives the rules of a project as they count beside those that count
// everywhere.
func (one *Loaded) WithoutDuplicatesOf(base *Loaded) *Loaded {
	if len(one.Rules) == 0 {
		return one
	}
	all, twice := rules.Unique(base.Rules, one.Rules)
	return &Loaded{Rules: all[len(base.Rules):], Programs: one.Programs, Problems: slices.Concat(one.Problems,
		without(without(twice, base.Problems), one.Problems))}
}

// without returns the problems that aren't known yet.
func without(problems, known []rules.Problem) []rules.Problem {
	return slices.DeleteFunc(problems, func(p rules.Problem) bool { return slices.Contains(known, p) })
}
