package ruleset

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// programFile is a user's file that describes programs: what was accepted is active whole,
// and of what was added since, only what can make hookmux see more.
type programFile struct {
	file   *accepted.File   // nil where nothing has to be accepted
	source *userfile.Source // then
	loaded Loaded
}

// ParsePrograms reads a file that describes programs; an error is a problem with its
// place.
func ParsePrograms(name string, data []byte) ([]*programs.Program, []rules.Problem) {
	list, err := programs.Parse(name, data)
	if err != nil {
		return nil, []rules.Problem{rules.ProblemOf(name, err)}
	}
	return list, nil
}

// readPrograms reads your files that describe programs, and reports whether anything
// changed.
func (l *Loader) readPrograms() bool {
	if l.opt.User == "" {
		return false
	}
	folder := filepath.Join(l.opt.User, programs.FolderName)
	names, err := ListFiles(folder)
	if l.opt.Accepted != nil {
		for _, name := range l.opt.Accepted.KnownIn(folder) {
			if path := filepath.Join(folder, name); accepted.IsRulesFile(name) && !slices.Contains(names, path) {
				names = append(names, path)
			}
		}
	}
	changed := false
	for name := range l.programs {
		if !slices.Contains(names, name) && err == nil {
			delete(l.programs, name)
			changed = true
		}
	}
	for _, name := range names {
		f := l.programs[name]
		if f == nil {
			f = &programFile{source: &userfile.Source{Path: name, Limit: maxFile}}
			if l.opt.Accepted != nil {
				f.file = l.opt.Accepted.File(name, maxFile, strengthenPrograms(name), checkPrograms(name))
			}
			l.programs[name] = f
			changed = true
		}
		changed = f.reload(name) || changed
	}
	return changed
}

func (f *programFile) reload(name string) bool {
	if f.file == nil {
		data, changed, err := f.source.Read()
		if !changed {
			return false
		}
		if err != nil {
			f.loaded.Problems = []rules.Problem{{File: name, Text: fmt.Sprintf("cannot be read (%v)", err)}}
			return true
		}
		list, problems := ParsePrograms(name, data)
		if len(problems) == 0 {
			f.loaded.Programs = list
		}
		f.loaded.Problems = problems
		return true
	}
	view, changed := f.file.Read()
	if !changed {
		return false
	}
	f.loaded = Loaded{}
	f.loaded.Programs, f.loaded.Problems = ParsePrograms(name, view.Accepted)
	_, parts := splitPrograms(view.InForce)
	for _, part := range parts {
		list, _ := programs.Parse(name, []byte(part)) // it could be read when it was added
		f.loaded.Programs = append(f.loaded.Programs, onlyAdditions(list)...)
	}
	const instead = "; what you accepted last stays in force"
	switch {
	case view.LiveErr != nil:
		f.loaded.Problems = []rules.Problem{{File: name, Text: fmt.Sprintf("cannot be read (%v)%s", view.LiveErr, instead)}}
	case view.Live != nil && view.Waits:
		_, f.loaded.Problems = ParsePrograms(name, view.Live)
		for i := range f.loaded.Problems {
			f.loaded.Problems[i].Text += instead
		}
	}
	return true
}

// onlyAdditions returns the parts of entries that can only have hookmux see more.
func onlyAdditions(list []*programs.Program) []*programs.Program {
	out := make([]*programs.Program, 0, len(list))
	for _, p := range list {
		part, _ := p.OnlyAdds()
		out = append(out, part)
	}
	return out
}

// addedPrograms divides what you accepted of a file from what was added since.
const addedPrograms = "\n# hookmux: of what follows only what has hookmux see more is in force\n"

func splitPrograms(inForce []byte) (head string, parts []string) {
	all := strings.Split(string(inForce), addedPrograms)
	return all[0], all[1:]
}

// strengthenPrograms adds to what is in force the descriptions of a changed file.
func strengthenPrograms(name string) accepted.Strengthen {
	return func(have, live []byte, _ accepted.State) []byte {
		if live == nil || bytes.Contains(live, []byte(strings.TrimSpace(addedPrograms))) {
			return have
		}
		list, err := programs.Parse(name, live)
		if err != nil || len(list) == 0 {
			return have
		}
		head, parts := splitPrograms(have)
		if head == string(live) || slices.Contains(parts, string(live)) || len(parts) >= maxAdded ||
			len(have)+len(live) > maxFile {
			return have
		}
		return slices.Concat(have, []byte(addedPrograms), live)
	}
}

func checkPrograms(name string) func([]byte) error {
	return func(data []byte) error {
		if _, problems := ParsePrograms(name, data); len(problems) > 0 {
			return errors.New(problems[0].String())
		}
		return nil
	}
}

// projectPrograms adds the descriptions of a trusted project, which can only add to the built-in ones.
func projectPrograms(trusted *trust.TrustedContent, out *Loaded) {
	for _, rel := range trusted.ProgramFiles() {
		name := filepath.Join(trusted.Root, rel)
		data, err := userfile.ReadFile(trusted.CopyOf(rel), maxFile)
		if err != nil {
			out.Problems = append(out.Problems, rules.Problem{File: name, Text: fmt.Sprintf("cannot be read: %v", err)})
			continue
		}
		list, problems := ParsePrograms(name, data)
		out.Problems = append(out.Problems, problems...)
		for _, p := range list {
			part, whole := p.OnlyAdds()
			out.Programs = append(out.Programs, part)
			if !whole {
				out.Problems = append(out.Problems, rules.Problem{File: name, Used: true, Text: p.Names +
					": only what has hookmux see more is in force; a project can't describe what to overlook"})
			}
		}
	}
}

// WeakerPrograms says, a line each, which descriptions a file no longer has, has changed, or
// has in addition so that hookmux may see less.
func WeakerPrograms(name string, before, after []byte) (list []string) {
	// What cannot be read is said elsewhere.
	head, parts := splitPrograms(before)
	was, _ := programs.Parse(name, []byte(head))
	for _, part := range parts {
		more, _ := programs.Parse(name, []byte(part))
		was = append(was, onlyAdditions(more)...)
	}
	is, _ := programs.Parse(name, after)
	describes := func(list []*programs.Program, one *programs.Program) bool {
		return slices.ContainsFunc(list, func(p *programs.Program) bool { return p.SameAs(one) })
	}
	names := func(list []*programs.Program, one string) bool {
		return slices.ContainsFunc(list, func(p *programs.Program) bool { return p.Names == one })
	}
	for _, one := range was {
		switch {
		case !names(is, one.Names):
			list = append(list, "the description of "+one.Names+" is removed")
		case !describes(is, one) && !describes(onlyAdditions(is), one):
			list = append(list, "the description of "+one.Names+" is changed")
		}
	}
	for _, one := range is {
		if _, whole := one.OnlyAdds(); !whole && !describes(was, one) {
			list = append(list, "the description of "+one.Names+" is added, and may have hookmux see less")
		}
	}
	return list
}
