package ownfiles

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// isOwned reports whether p is ours. p is absolute, or as it was written.
func (t *Checker) isOwned(p string) bool {
	if len(p) < 4 {
		return false
	}
	for _, e := range t.exact {
		if facts.IsUnder(p, e) {
			return true
		}
	}
	l := strings.ToLower(strings.ReplaceAll(p, "//", "/"))
	for _, f := range t.files {
		if strings.HasSuffix(l, f) && (len(l) == len(f) || f[0] == '/' || l[len(l)-len(f)-1] == '/' ||
			strings.HasPrefix(f,
				"support/")) {
			return true
		}
	}
	l += "/"
	for _, d := range t.dirs {
		if i := strings.Index(l, d); i >= 0 && (i == 0 || d[0] == '/' || l[i-1] == '/') {
			return true
		}
	}
	if strings.HasPrefix(l, "/proc/") && strings.HasSuffix(l, "/mem/") { // the agent's own memory, or the daemon's
		return true
	}
	// /run/user/1000/hookmux and everything in it.
	return strings.HasPrefix(l, "/run/user/") && strings.Contains(l, "/hookmux/")
}

// protectedPath is a file, or a directory with everything in it.
type protectedPath struct {
	path string // absolute, in lower case
	real string // absolute, as it is spelled
	dir  bool
}

func newProtected(p string, dir bool) protectedPath { return protectedPath{strings.ToLower(p), p, dir} }

// protectedPaths returns our files where they are expected: in the home directory, in the
// project and where the options say.
func (t *Checker) protectedPaths(x *scope) []protectedPath {
	if x.protected != nil {
		return x.protected
	}
	for _, e := range t.exact {
		x.protected = append(x.protected, newProtected(e, true))
	}
	for _, c := range hookConfigs() {
		p, dir := strings.CutSuffix(c, "/")
		switch {
		case strings.HasPrefix(p, "/"):
			x.protected = append(x.protected, newProtected(p, dir))
		case strings.HasPrefix(p, "support/"):
		case !strings.HasPrefix(p, "."):
			x.protected = append(x.protected, newProtected(path.Join(x.Home, p), dir))
		default:
			for _, root := range [...]string{x.Home, x.Project, x.Cwd} {
				x.protected = append(x.protected, newProtected(path.Join(root, p), dir))
			}
		}
	}
	return x.protected
}

// holdsOwned reports whether deleting or replacing p takes one of ours with it. The home
// directory or the project as a whole is not this guard's concern, unless the options say what
// is in it.
func (t *Checker) holdsOwned(x *scope, p string) bool {
	base := strings.ToLower(path.Base(p))
	if t.isOwned(p) || ownRoots()[base] && strings.HasPrefix(base, ".") {
		return true
	}
	for _, e := range t.exact {
		if p != "/" && facts.IsBelow(e, p) {
			return true
		}
	}
	if !facts.IsBelow(p, x.Home) || facts.IsUnder(x.Project, p) {
		return false
	}
	return t.isAbove(x, p)
}

// isAbove reports whether one of our files is expected below p.
func (t *Checker) isAbove(x *scope, p string) bool {
	l := strings.ToLower(p)
	for _, e := range t.protectedPaths(x) {
		if facts.IsBelow(e.path, l) {
			return true
		}
	}
	return false
}

// globMayOwn reports whether a pattern can match one of our files. With del it
// is enough that it matches a directory above one.
func (t *Checker) globMayOwn(x *scope, pattern string, del bool) bool {
	parts := strings.Split(strings.ToLower(strings.Trim(pattern, "/")), "/")
	for _, e := range t.protectedPaths(x) {
		rest, ok := matchParts(parts, strings.Split(strings.Trim(e.path, "/"), "/"), 0)
		switch {
		case !ok:
		case rest > 0:
			if del {
				return true
			}
		case rest == 0 || e.dir:
			return true
		}
	}
	return false
}

// matchParts matches the parts of a pattern against those of a path. ok says that one of them ran
// out without a difference; rest is how many parts of the path are left, or below zero how many
// of the pattern.
func matchParts(pattern, parts []string, depth int) (rest int, ok bool) {
	for i, p := range pattern {
		if i >= len(parts) {
			return i - len(pattern), true
		}
		if p == "**" && depth < 8 {
			for skip, part := range parts[i:] {
				if rest, ok := matchParts(pattern[i+1:], parts[i+skip:], depth+1); ok && rest <= 0 {
					return rest, true
				}
				if strings.HasPrefix(part, ".") {
					return 0, false
				}
			}
			return i + 1 - len(pattern), true
		}
		if !matchPart(p, parts[i]) {
			return 0, false
		}
	}
	return len(parts) - len(pattern), true
}

// matchPart matches one part as a shell does: a wildcard doesn't match a leading period.
func matchPart(pattern, name string) bool {
	if i := strings.IndexByte(pattern, '('); i >= 0 {
		pattern = strings.TrimRight(pattern[:i], "@?*+!") + "*" // extended patterns, zsh's qualifiers
	}
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// NamedIn returns the first of our files, or a variable that switches hookmux off, in free text.
func (t *Checker) NamedIn(text string) string {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"`()[]{}<>|;,&=@:", r)
	}) {
		if t.isOwned(w) || strings.HasPrefix(w, "HOOKMUX_DISABLE") {
			return w
		}
	}
	return ""
}

// wordIsOwned checks a word both ways: as a place, and as it is written.
func (t *Checker) wordIsOwned(x *scope, w shell.Word, r *shell.Run, del bool) bool {
	test := t.isOwned
	if del {
		test = func(p string) bool { return t.holdsOwned(x, p) }
	}
	if w.Text == "" || r.Contained {
		return false
	}
	p := x.ResolveWord(w, r)
	if !p.Known {
		return test(w.Text)
	}
	if test(p.Path) {
		return true
	}
	if w.Glob {
		pattern := p.Path
		if p.All {
			pattern += "/*"
		}
		if t.globMayOwn(x, pattern, del && facts.IsBelow(path.Dir(pattern), x.Home)) {
			return true
		}
	}
	if w.Glob && !p.All || r.Remote {
		return false
	}
	// Deleting a link doesn't touch what it points to.
	follow := !del || p.All || strings.HasSuffix(w.Text, "/")
	return slices.ContainsFunc(t.otherNames(x, p.Path, follow)[1:], test)
}

// otherNames returns the names of what a path leads to: itself, where links lead, and the
// other name that one of our files, or a start file, has (a hard link). follow says whether
// the last part of the path is followed.
func (t *Checker) otherNames(x *scope, p string, follow bool) []string {
	names := []string{p}
	if resolved, ok := x.RealPath(p, follow); ok {
		names = append(names, resolved)
	}
	if t.twin == nil || !follow {
		return names
	}
	if twin := t.twin(names[len(names)-1], func() []string { return t.watchedFiles(x) }); twin != "" {
		names = append(names, twin)
	}
	return names
}

// watchedFiles returns the files and folders that no second name may lead to.
func (t *Checker) watchedFiles(x *scope) []string {
	if x.watched == nil {
		for _, e := range t.protectedPaths(x) {
			x.watched = append(x.watched, e.real)
		}
		for _, f := range startFiles {
			if path.IsAbs(f.path) {
				continue // of the system: only its owner links to it
			}
			x.watched = append(x.watched, path.Join(x.Home, f.path))
		}
	}
	return x.watched
}

// ownBinary reports whether w names hookmux's programs: without them no agent's hook reaches the
// daemon. A name followed by a slash is a directory.
func ownBinary(w shell.Word) bool {
	t := strings.ToLower(w.Text)
	if strings.HasSuffix(t, "/") {
		return false
	}
	base := strings.TrimSuffix(path.Base(t), ".exe")
	switch {
	case base == "hookmux" || base == "hookmux-hook":
		return true
	case w.Dynamic:
		return strings.Contains(t, "hookmux-hook")
	case w.Glob && strings.Contains(base, "hook"):
		ok, err := path.Match(base, "hookmux-hook")
		return ok && err == nil
	}
	return false
}
