package claude

import (
	"regexp"
	"strings"
	"sync"
)

// ignorePattern is one line of a gitignore file, interpreted like the npm package "ignore", which
// Claude Code uses: case-insensitively.
type ignorePattern struct {
	negative bool
	match    *regexp.Regexp
}

var ignoreCache sync.Map // string → *ignorePattern or nil

// compileIgnore reads a pattern; nil for one that matches nothing.
func compileIgnore(line string) *ignorePattern {
	if known, ok := ignoreCache.Load(line); ok {
		return known.(*ignorePattern)
	}
	pattern := readIgnore(line)
	if len(line) < 1024 {
		ignoreCache.Store(line, pattern)
	}
	return pattern
}

func readIgnore(line string) *ignorePattern {
	text := trimTrailingBlanks(line)
	if text == "" || strings.HasPrefix(text, "#") || strings.HasSuffix(text, `\`) && !strings.HasSuffix(text, `\\`) {
		return nil
	}
	pattern := &ignorePattern{}
	if strings.HasPrefix(text, "!") {
		pattern.negative, text = true, text[1:]
	}
	if strings.HasPrefix(text, `\!`) || strings.HasPrefix(text, `\#`) {
		text = text[1:]
	}
	onlyFolders := strings.HasSuffix(text, "/")
	text = strings.TrimRight(text, "/")
	anchored := strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString("(?is)^")
	if !anchored {
		b.WriteString("(?:.*/)?")
	}
	if !writeIgnoreBody(&b, text) {
		return nil
	}
	if onlyFolders {
		b.WriteString("/")
	}
	b.WriteString("$")
	compiled, err := regexp.Compile(b.String())
	if err != nil {
		return nil
	}
	pattern.match = compiled
	return pattern
}

func trimTrailingBlanks(text string) string {
	for strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t") {
		if isEscaped(text, len(text)-1) {
			return text
		}
		text = text[:len(text)-1]
	}
	return text
}

// writeIgnoreBody turns stars, question marks and brackets into a regular expression.
func writeIgnoreBody(b *strings.Builder, text string) bool {
	parts := strings.Split(text, "/")
	for i, part := range parts {
		last := i == len(parts)-1
		if strings.Trim(part, "*") == "" && len(part) >= 2 {
			switch {
			case last && i == 0:
				b.WriteString(".+")
			case last:
				b.WriteString(".+")
			default:
				b.WriteString("(?:[^/]+/)*")
			}
			continue
		}
		if part == "" && i > 0 && !last {
			continue // a//b is a/b
		}
		if !writeIgnorePart(b, part) {
			return false
		}
		if !last {
			b.WriteString("/")
		}
	}
	return true
}

// writeIgnorePart writes one name of a pattern.
func writeIgnorePart(b *strings.Builder, part string) bool {
	if part == "*" {
		b.WriteString("[^/]+")
		return true
	}
	for i := 0; i < len(part); i++ {
		c := part[i]
		switch c {
		case '\\':
			if i+1 < len(part) {
				i++
				b.WriteString(regexp.QuoteMeta(string(part[i])))
			}
		case '*':
			b.WriteString("[^/]*")
		case '?':
			b.WriteString("[^/]")
		case '[':
			end := strings.IndexByte(part[i+1:], ']')
			if end < 1 {
				return false // an unclosed bracket matches nothing
			}
			class := part[i+1 : i+1+end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i += end + 1
		default:
			if c < 0x80 {
				b.WriteString(regexp.QuoteMeta(string(rune(c))))
			} else {
				b.WriteByte(c)
			}
		}
	}
	return true
}

// ignoreList is the patterns of one root, in order.
type ignoreList []*ignorePattern

// matches reports which pattern covers a path relative to the root, -1 for none.
// A folder that is covered covers everything below it.
func (l ignoreList) matches(relative string) int {
	names := strings.Split(relative, "/")
	for i := range names {
		current := strings.Join(names[:i+1], "/")
		if i < len(names)-1 {
			current += "/"
		}
		found := -1
		for j, pattern := range l {
			if pattern == nil {
				continue
			}
			if pattern.negative == (found < 0) {
				continue // nothing to take back, or covered already
			}
			if pattern.match.MatchString(current) || strings.HasSuffix(current, "/") &&
				pattern.match.MatchString(strings.TrimSuffix(current, "/")) {
				if pattern.negative {
					found = -1
				} else {
					found = j
				}
			}
		}
		if found >= 0 {
			return found
		}
	}
	return -1
}
