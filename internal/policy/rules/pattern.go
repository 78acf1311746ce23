package rules

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

var idPattern = lazyregexp.New(`^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$`)

// certainty is whether something holds: no, perhaps, or yes.
type certainty int8

const (
	no certainty = iota
	maybe
	yes
)

func certain(holds bool) certainty {
	if holds {
		return yes
	}
	return no
}

// both returns the less certain of two.
func both(a, b certainty) certainty { return min(a, b) }

// either returns the more certain of two.
func either(a, b certainty) certainty { return max(a, b) }

// negate turns yes into no; what isn't known stays so.
func negate(c certainty) certainty { return yes - c }

// Pattern is one pattern of a rule: * matches any text, a leading ! excludes what matches.
type Pattern struct {
	text string
	// small is text in lower case.
	small string
	not   bool
	star  bool // it holds a * or ?
	// ending is the text after the only *, if the pattern begins with it.
	ending string
}

func newPattern(text string) Pattern {
	rest, not := strings.CutPrefix(text, "!")
	p := Pattern{text: rest, small: strings.ToLower(rest), not: not, star: hasWildcard(rest)}
	if ending, ok := strings.CutPrefix(rest, "*"); ok && !hasWildcard(ending) {
		p.ending = ending
	}
	return p
}

func (p Pattern) plain() string { return p.text }

func (p Pattern) wild() bool { return strings.ContainsAny(p.text, "*?[{") }

// MarshalText returns the pattern as it was written.
func (p Pattern) MarshalText() ([]byte, error) {
	if p.not {
		return []byte("!" + p.text), nil
	}
	return []byte(p.text), nil
}

// UnmarshalText reads what MarshalText returns.
func (p *Pattern) UnmarshalText(text []byte) error {
	*p = newPattern(string(text))
	return nil
}

// Patterns is a list of patterns: one without ! has to match, and none with a ! may. A list
// of only patterns with ! matches everything else.
type Patterns []Pattern

// Texts returns the patterns one of which must match, without those that exclude.
func (l Patterns) Texts() []string {
	var out []string
	for _, p := range l {
		if !p.not {
			out = append(out, p.text)
		}
	}
	return out
}

// Except returns l with patterns added that exclude what matches.
func (l Patterns) Except(texts []string) Patterns {
	out := slices.Clone(l)
	for _, t := range texts {
		out = append(out, newPattern("!"+t))
	}
	return out
}

// UnmarshalYAML reads a text or a list of texts.
func (l *Patterns) UnmarshalYAML(unmarshal func(any) error) error {
	var list []string
	var text string
	if err := unmarshal(&text); err == nil {
		list = []string{text}
	} else if err := unmarshal(&list); err != nil {
		return err
	}
	for _, t := range list {
		*l = append(*l, newPattern(t))
	}
	return nil
}

// match returns whether a value matches the patterns, with a function that compares one of
// them. An empty list matches everything.
func (l Patterns) match(fits func(p Pattern) certainty) certainty {
	if len(l) == 0 {
		return yes
	}
	result, positive := no, false
	excluded := no
	for _, p := range l {
		if p.not {
			excluded = either(excluded, fits(p))
			continue
		}
		positive = true
		if result != yes {
			result = either(result, fits(p))
		}
	}
	if !positive {
		result = yes
	}
	return both(result, negate(excluded))
}

// matchText returns whether a known text matches.
func (l Patterns) matchText(text string) certainty {
	if len(l) == 0 {
		return yes
	}
	return l.match(func(p Pattern) certainty { return certain(p.fits(text)) })
}

// matchWord returns whether a word of a command, which may not be known, matches.
func (l Patterns) matchWord(text string, dynamic bool) certainty {
	return l.match(func(p Pattern) certainty { return p.fitsWord(text, dynamic) })
}

// matchAny returns whether one of several known texts matches.
func (l Patterns) matchAny(texts []string) certainty {
	if len(l) == 0 {
		return yes
	}
	return l.match(func(p Pattern) certainty { return certain(slices.ContainsFunc(texts, p.fits)) })
}

// fits reports whether a known text matches the pattern.
func (p Pattern) fits(text string) bool {
	if !p.star {
		return p.text == text
	}
	if p.ending != "" {
		return strings.HasSuffix(text, p.ending)
	}
	return fitsGlob(p.text, text)
}

// fitsWord returns whether a word matches, parts of which may be unknown.
func (p Pattern) fitsWord(text string, dynamic bool) certainty {
	if !dynamic {
		return certain(p.fits(text))
	}
	return fitsWord(p.text, text, true)
}

// literals returns the patterns if all are plain texts that must match; ok is false otherwise.
func (l Patterns) literals() (list []string, ok bool) {
	for _, p := range l {
		if p.not || p.wild() {
			return nil, false
		}
		list = append(list, p.text)
	}
	return list, len(list) > 0
}

// fitsWord compares a pattern with a word, parts of which may be unknown.
func fitsWord(pattern, text string, dynamic bool) certainty {
	if fitsText(pattern, text) && !dynamic {
		return yes
	}
	if !dynamic {
		return no
	}
	// The known ends of the word must match, the rest may be anything.
	known := strings.IndexAny(text, "$`")
	if known > 0 && !strings.ContainsAny(pattern, "*?[{") && !strings.HasPrefix(pattern, text[:known]) {
		return no
	}
	return maybe
}

// fitsText compares a text with a pattern in which * matches any characters and ? matches
// one.
func fitsText(pattern, text string) bool {
	if !hasWildcard(pattern) {
		return pattern == text
	}
	return fitsGlob(pattern, text)
}

// fitsGlob is fitsText for a pattern with a * or ?.
func fitsGlob(pattern, text string) bool {
	if strings.IndexByte(pattern, '?') < 0 {
		return fitsStars(pattern, text)
	}
	star, mark, p := -1, 0, 0
	for t := 0; t < len(text); {
		switch {
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t] && pattern[p] != '*'):
			p++
			t++
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// fitsStars is fitsText for a pattern that has a * and no ?.
func fitsStars(pattern, text string) bool {
	first, rest, _ := strings.Cut(pattern, "*")
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		part, more, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(part):], more
	}
}

// place holds the folders that path patterns start from.
type place struct{ home, project string }

// foldsNames says that the system considers README and readme the same file.
var foldsNames = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// foldName returns a name as the system compares it.
func foldName(name string) string {
	if foldsNames {
		return strings.ToLower(name)
	}
	return name
}

// expand makes a path pattern absolute; anywhere says that it matches a name at any depth. The
// result is written as the system compares names.
func (at place) expand(pattern string) (full string, anywhere bool) {
	full, anywhere = at.expandAsWritten(pattern)
	return foldName(full), anywhere
}

func (at place) expandAsWritten(pattern string) (full string, anywhere bool) {
	pattern = strings.TrimSuffix(pattern, "/")
	switch {
	case pattern == "~":
		return at.home, false
	case strings.HasPrefix(pattern, "~/"):
		return path.Join(at.home, pattern[2:]), false
	case strings.HasPrefix(pattern, "/"):
		return path.Clean(pattern), false
	case strings.HasPrefix(pattern, "./"):
		return path.Join(at.project, pattern[2:]), false
	case !strings.Contains(pattern, "/"):
		return pattern, true
	case strings.HasPrefix(pattern, "**/"):
		return pattern, true
	}
	return path.Join(at.project, pattern), false
}

// fitsPath reports whether a path, or a folder above it, matches a pattern.
func (at place) fitsPath(pattern, file string) bool {
	return at.mayFit(pattern, file) && at.fitsInFull(pattern, file)
}

// mayFit rules out most paths without building the full pattern: the literal parts of a
// pattern must be in the path.
func (at place) mayFit(pattern, file string) bool {
	if foldsNames || !isClean(file) {
		return true
	}
	pattern = strings.TrimSuffix(pattern, "/")
	below := at.project
	switch {
	case pattern == "~":
		return true
	case !strings.Contains(pattern, "/"), strings.HasPrefix(pattern, "**/"):
		start, end := literalEnds(strings.TrimPrefix(pattern, "**/"))
		return strings.Contains(file, strings.Trim(start, "/")) && strings.Contains(file, strings.Trim(end, "/"))
	case strings.HasPrefix(pattern, "/"):
		below = "/"
	case strings.HasPrefix(pattern, "~/"):
		below, pattern = at.home, pattern[2:]
	case strings.HasPrefix(pattern, "./"):
		pattern = pattern[2:]
	}
	start, _ := literalEnds(pattern)
	start = strings.Trim(start, "/")
	if !isClean(below) || strings.Contains(pattern, "..") || strings.Contains(start, "//") || strings.Contains("/"+start+"/", "/./") {
		return true
	}
	rest, ok := strings.CutPrefix(file, strings.TrimSuffix(below, "/"))
	return ok && (start == "" || strings.HasPrefix(strings.TrimPrefix(rest, "/"), start))
}

// literalEnds returns the text of a pattern before its first and after its last special
// character.
func literalEnds(pattern string) (start, end string) {
	const special = `*?[]{}\`
	first := strings.IndexAny(pattern, special)
	if first < 0 {
		return pattern, ""
	}
	return pattern[:first], pattern[strings.LastIndexAny(pattern, special)+1:]
}

// isClean reports whether a path is absolute and written in the shortest way.
func isClean(file string) bool { return path.IsAbs(file) && path.Clean(file) == file }

func (at place) fitsInFull(pattern, file string) bool {
	full, anywhere := at.expand(pattern)
	if anywhere {
		full = "**/" + strings.TrimPrefix(full, "**/")
	}
	for p := foldName(file); ; p = path.Dir(p) {
		name := p
		if anywhere {
			name = strings.TrimPrefix(p, "/")
		}
		if ok, err := doublestar.Match(full, name); ok && err == nil {
			return true
		}
		if p == path.Dir(p) {
			return false
		}
	}
}

// fitsGlob reports whether a path that the shell completes may become what a pattern names,
// and has enough of it: ~/.ssh/auth*_keys.
func (at place) fitsGlob(pattern, file string) bool {
	full, anywhere := at.expand(pattern)
	file = foldName(file)
	if last := path.Base(file); anywhere || hasWildcard(full) && !strings.HasSuffix(full, "*") ||
		len(strings.Trim(last, "*?.")) < 3 {
		return false
	}
	ok, err := doublestar.Match(file, strings.TrimRight(full, "*"))
	return ok && err == nil
}

// mayComplete reports whether the shell may complete a name to the one that a pattern means
// in any folder: cat .en* for .env. A mere * names nothing.
func (at place) mayComplete(pattern, file string) bool {
	full, anywhere := at.expand(pattern)
	name, last := strings.TrimPrefix(full, "**/"), path.Base(foldName(file))
	if !anywhere || strings.ContainsAny(name, "*?[{/") || strings.Trim(last, "*?.") == "" ||
		strings.HasPrefix(name, ".") && !strings.HasPrefix(last, ".") {
		return false
	}
	ok, err := doublestar.Match(last, name)
	return ok && err == nil
}

// mayMeet reports whether some name may match both a rule's pattern and one of the shell's.
func (at place) mayMeet(pattern, file string) bool {
	full, anywhere := at.expand(pattern)
	file = foldName(file)
	_, end := literalEnds(strings.TrimSuffix(full, "/**"))
	_, ends := literalEnds(file)
	if strings.Contains(end, ".") && !strings.Contains(end, "/") && strings.Contains(ends, ".") &&
		!strings.Contains(ends, "/") && !strings.HasSuffix(full, "/**") &&
		!strings.HasSuffix(end, ends) && !strings.HasSuffix(ends, end) {
		return false // *.pem, src/**/*.ts
	}
	if name := path.Base(full); anywhere && strings.HasPrefix(name, ".") && !strings.Contains(file, "/.") {
		return false // the shell's patterns don't match a name that begins with a dot
	}
	fixed, _ := doublestar.SplitPattern(full)
	start, _ := doublestar.SplitPattern(file)
	return anywhere || strings.HasPrefix(fixed+"/", start+"/") || strings.HasPrefix(start+"/", fixed+"/")
}

// fitsBelow reports whether what a pattern means is below a folder.
func (at place) fitsBelow(pattern, folder string) bool {
	full, anywhere := at.expand(pattern)
	if anywhere {
		return false
	}
	fixed, _ := doublestar.SplitPattern(full)
	folder = foldName(folder)
	return folder == "/" || strings.HasPrefix(fixed+"/", folder+"/")
}

// hasWildcard is strings.ContainsAny(pattern, "*?"), which is several times slower for short
// texts.
func hasWildcard(pattern string) bool {
	return strings.IndexByte(pattern, '*') >= 0 || strings.IndexByte(pattern, '?') >= 0
}

func joinWords(list []string) string { return strings.Join(list, ", ") }
