package facts

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Limits of what one command line's patterns may read and become.
const (
	maxPatternParts = 4    // parts of one path that hold a pattern
	maxMatches      = 256  // names
	maxEntries      = 4096 // names in folders that are looked at
)

// Disk reads the folders that the shell's patterns are about.
type Disk struct {
	// List returns up to most names in a folder, in any order.
	List func(folder string, most int) ([]fs.DirEntry, error)
	// Exists reports whether something has this name.
	Exists func(path string) bool
}

// HasPattern reports whether a command line may have a pattern of files.
func HasPattern(line string) bool { return strings.ContainsAny(line, "*?[") }

// unlistedFolders contain no files of users, or create them when they are looked at.
var unlistedFolders = []string{"/proc", "/sys", "/dev", "/net", "/afs"}

// expansion holds what the patterns of one command line match.
type expansion struct {
	scope   *Scope
	disk    *Disk
	dots    bool // * also matches names that begin with a dot
	fold    bool // capitals don't matter
	entries int  // may be read still
	names   int  // may be found still
	known   map[string]*matches
	// real maps every match to where it leads.
	real map[string]realPath
	// text holds all that was found.
	text strings.Builder
}

// realPath is where a path leads, and where it would without following its last part.
type realPath struct{ followed, named string }

// matches are the names that one pattern matches, below the folder where it begins.
type matches struct {
	names   []string
	partial bool // there may be more
}

// expandScript returns a script with the names of files that its patterns match, as further
// words after each pattern; the folder that cd enters by a pattern is the first of its
// matches. A script without patterns, or whose patterns match nothing, is returned as it is.
func expandScript(script *shell.Script, line string, scope *Scope, disk *Disk) (*shell.Script, *expansion) {
	if disk == nil || !HasPattern(line) || !slices.ContainsFunc(script.Runs, holdsPattern) {
		return script, nil
	}
	out := *script
	out.Runs = slices.Clone(script.Runs)
	small := strings.ToLower(line)
	e := &expansion{scope: scope, disk: disk, entries: maxEntries, names: maxMatches,
		dots: strings.Contains(small, "dotglob") || strings.Contains(small, "globdots") || strings.Contains(small, "glob_dots"),
		fold: strings.Contains(small, "nocase") || strings.Contains(small, "(#"),
	}
	for i := range out.Runs {
		if r := &out.Runs[i]; holdsPattern(*r) {
			e.expandRun(r)
		}
	}
	if e.known == nil {
		return script, nil
	}
	return &out, e
}

func holdsPattern(r shell.Run) bool {
	isPattern := func(w shell.Word) bool { return w.Glob }
	return !r.Remote && !r.Contained && (slices.ContainsFunc(r.Args(), isPattern) || slices.ContainsFunc(r.Dirs, isPattern) ||
		slices.ContainsFunc(r.Redirects, func(rd shell.Redirect) bool { return rd.Target.Glob }))
}

func (e *expansion) expandRun(r *shell.Run) {
	if slices.ContainsFunc(r.Dirs, func(w shell.Word) bool { return w.Glob }) {
		dirs := r.Dirs
		r.Dirs = make([]shell.Word, 0, len(dirs))
		for _, d := range dirs {
			if _, found := e.expandWord(d, r); len(found) > 0 {
				d = found[0]
			}
			r.Dirs = append(r.Dirs, d)
		}
	}
	if slices.ContainsFunc(r.Args(), func(w shell.Word) bool { return w.Glob }) {
		words := r.Argv[:1:1]
		for _, w := range r.Args() {
			w, found := e.expandWord(w, r)
			// What may be an option's value stays one word: git -C ~/.cl* restore x.
			if len(found) != 1 || w.Unlisted || !isFlag(words[len(words)-1].Text) || strings.Trim(path.Base(w.Text), ".*?") == "" {
				words = append(words, w)
			}
			words = append(words, found...)
		}
		r.Argv = words
	}
	redirects := r.Redirects
	for i, rd := range redirects {
		w, found := e.expandWord(rd.Target, r)
		if len(found) == 0 {
			continue
		}
		if len(r.Redirects) == len(redirects) {
			r.Redirects = slices.Clone(redirects)
		}
		r.Redirects[i].Target = w
		for _, name := range found {
			r.Redirects = append(r.Redirects, shell.Redirect{Op: rd.Op, Target: name})
		}
	}
}

// expandWord returns a word, marked if more names match it than were looked at, and the names
// that it matches.
func (e *expansion) expandWord(w shell.Word, r *shell.Run) (shell.Word, []shell.Word) {
	if !w.Glob {
		return w, nil
	}
	t, ok := e.scope.expandKnown(w.Text, w.Tilde, w.Dynamic)
	at := strings.IndexAny(t, "*?[")
	if !ok || at < 0 || len(t) > longestPath {
		return w, nil
	}
	at = strings.LastIndexByte(t[:at], '/') + 1
	folder, pattern := t[:at], t[at:]
	if !path.IsAbs(folder) {
		dir, ok := e.scope.StartDir(r)
		if !ok {
			return w, nil
		}
		folder = dir + "/" + folder
	}
	folder = e.scope.clean(folder)
	found := e.find(folder, pattern)
	w.Unlisted = found.partial
	if len(found.names) == 0 {
		return w, nil
	}
	shown, tilde := t[:at], false
	if rest := len(t) - at; w.Tilde && !w.Dynamic && rest < len(w.Text) {
		shown, tilde = w.Text[:len(w.Text)-rest], true
	}
	words := make([]shell.Word, len(found.names))
	for i, name := range found.names {
		words[i] = shell.Word{Text: shown + name, Bare: shown + name, Tilde: tilde, Vars: w.Vars}
	}
	return w, words
}

// find returns what a pattern matches in a folder.
func (e *expansion) find(folder, pattern string) *matches {
	key := folder + "\x00" + pattern
	if m, ok := e.known[key]; ok {
		return m
	}
	if e.known == nil {
		e.known, e.real = map[string]*matches{}, map[string]realPath{}
	}
	m := &matches{}
	e.known[key] = m
	if slices.ContainsFunc(unlistedFolders, func(f string) bool { return IsUnder(folder, f) }) {
		return m
	}
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return r == '/' })
	patterns := 0
	for _, part := range parts {
		if part == ".." || part == "." {
			return m
		}
		if strings.ContainsAny(part, "*?[") {
			patterns++
		}
	}
	if patterns > maxPatternParts {
		m.partial = true
		return m
	}
	e.walk(m, folder, "", parts, false)
	slices.Sort(m.names)
	m.names = slices.Compact(m.names)
	slash := ""
	if strings.HasSuffix(pattern, "/") {
		slash = "/"
	}
	for i, name := range m.names {
		m.names[i] = name + slash
		e.text.WriteString(path.Join(folder, name) + slash + "\n")
	}
	return m
}

// walk adds what matches the parts of a pattern in a folder; below is that folder's own name
// among the matches. link says that its name is a link.
func (e *expansion) walk(m *matches, root, below string, parts []string, link bool) {
	at := path.Join(root, below)
	switch {
	case m.partial:
		return
	case len(parts) == 0:
		if below != "" {
			e.add(m, at, below, link)
		}
		return
	case !strings.ContainsAny(parts[0], "*?["):
		name := path.Join(below, parts[0])
		if len(parts) > 1 {
			e.walk(m, root, name, parts[1:], true)
		} else if e.entries--; e.entries < 0 {
			m.partial = true
		} else if e.disk.Exists(path.Join(root, name)) {
			e.walk(m, root, name, nil, true) // whether it is a link is looked at
		}
		return
	}
	list, err := e.disk.List(at, e.entries+1)
	if len(list) > e.entries {
		list = list[:e.entries]
		defer func() { m.partial = true }() // those that were read are looked at
	}
	e.entries -= len(list)
	if err != nil && len(list) == 0 {
		return
	}
	if parts[0] == "**" {
		if len(parts) > 1 {
			e.walk(m, root, below, parts[1:], link)
		}
		for _, entry := range list {
			if name := entry.Name(); e.dots || !strings.HasPrefix(name, ".") {
				name = path.Join(below, name)
				if len(parts) == 1 {
					e.walk(m, root, name, nil, isLink(entry))
				}
				if entry.IsDir() {
					e.walk(m, root, name, parts, false)
				}
			}
		}
		return
	}
	part := newNamePattern(parts[0], e.fold)
	for _, entry := range list {
		if name := entry.Name(); part.fits(name, e.dots) && (len(parts) == 1 || entry.IsDir() || isLink(entry)) {
			e.walk(m, root, path.Join(below, name), parts[1:], isLink(entry))
		}
	}
}

func isLink(entry fs.DirEntry) bool { return entry.Type()&^fs.ModePerm != 0 && !entry.IsDir() }

// add records one match.
func (e *expansion) add(m *matches, at, name string, link bool) {
	if e.names == 0 {
		m.partial = true
		return
	}
	e.names--
	m.names = append(m.names, name)
	if e.scope.resolve == nil {
		return
	}
	named := path.Join(e.realFolder(path.Dir(at)), path.Base(at))
	real := realPath{named, named}
	if link {
		real.followed = e.scope.resolve(at)
	}
	e.real[at] = real
}

// realFolder returns where a folder leads.
func (e *expansion) realFolder(folder string) string {
	if known, ok := e.real[folder+"/"]; ok {
		return known.followed
	}
	real := e.scope.resolve(folder)
	e.real[folder+"/"] = realPath{real, real}
	return real
}

// namePattern is a pattern of one name. Syntax that only some shells read is assumed to match
// more than it does.
type namePattern struct {
	text string
	glob string
	fold bool
}

func newNamePattern(text string, fold bool) namePattern {
	p := namePattern{text: text, fold: fold}
	if i := strings.IndexByte(text, '('); i >= 0 {
		text = strings.TrimRight(text[:i], "@?*+!") + "*" // extended patterns, zsh's qualifiers
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			b.WriteString(`\\`)
		case '[':
			n := classEnd(text[i:])
			class := text[i : i+n]
			switch {
			case n == 0:
				b.WriteString(`\[`)
				continue
			case strings.ContainsAny(class[1:], `[\`): // [[:alpha:]]
				b.WriteByte('?')
			case strings.HasPrefix(class, "[!"):
				b.WriteString("[^" + class[2:])
			default:
				b.WriteString(class)
			}
			i += n - 1
		default:
			b.WriteByte(text[i])
		}
	}
	p.glob = b.String()
	if fold {
		p.glob = strings.ToLower(p.glob)
	}
	if _, err := path.Match(p.glob, ""); err != nil {
		p.glob = "*"
	}
	return p
}

// classEnd returns the length of the [...] that a text begins with, 0 if it has no end.
func classEnd(text string) int {
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	for ; i < len(text); i++ {
		switch {
		case text[i] == ']':
			return i + 1
		case text[i] == '[' && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0:
			end := strings.Index(text[i+2:], text[i+1:i+2]+"]")
			if end < 0 {
				return 0
			}
			i += end + 3
		}
	}
	return 0
}

func (p namePattern) fits(name string, dots bool) bool {
	if name == p.text { // the pattern may have been quoted
		return true
	}
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(p.text, ".") && !dots {
		return false
	}
	if p.fold {
		name = strings.ToLower(name)
	}
	ok, err := path.Match(p.glob, name)
	return ok && err == nil
}
