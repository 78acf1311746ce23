package state

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

const (
	maxSummary = 200 // characters of a summary, a title, an error
	maxLabel   = 80  // characters of what goes on now
)

// isSpace reports whether r becomes a blank on one line: white space and
// everything that steers a terminal.
func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

var thinking = lazyregexp.New(`(?is)<think(?:ing)?>.*?</think(?:ing)?>`)

// Summary is an agent's last message in one line of at most 200 characters,
// without what it thought.
func Summary(message string) string {
	if message == "" {
		return ""
	}
	if len(message) > 1<<20 {
		message = message[:1<<20]
	}
	if strings.Contains(message, "<think") || strings.Contains(message, "<THINK") {
		message = thinking.ReplaceAllString(message, " ")
	}
	return foldLine(message, maxSummary)
}

// Line is a text as a title or an error is kept: on one line, at most 200
// characters.
func Line(s string) string { return foldLine(s, maxSummary) }

func countOf(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// foldLine is s on one line: white space and control characters become single
// blanks, at most limit characters.
func foldLine(s string, limit int) string {
	if len(s) > 8*limit+4096 {
		s = s[:8*limit+4096] // nothing behind can come into sight
	}
	var b strings.Builder
	b.Grow(min(len(s), limit))
	space, n := false, 0
	for _, r := range s {
		if isSpace(r) {
			space = n > 0
			continue
		}
		if r == 0xFFFD {
			r = '?'
		}
		if space {
			if n+2 > limit {
				break
			}
			b.WriteByte(' ')
			n++
			space = false
		}
		if n+1 > limit {
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
