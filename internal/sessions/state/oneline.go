package state

import (
	"strings"
	"unicode"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// This file makes one line of other programs' texts: titles, final messages, errors, current
// activity.

// MaxSummary bounds a summary, a title, an error, in characters.
const MaxSummary = 200

// isSpace reports whether r becomes a blank on one line: white space and
// everything that steers a terminal.
func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

var thinking = lazyregexp.New(`(?is)<think(?:ing)?>.*?</think(?:ing)?>`)

// SummaryLine returns an agent's last message in one line of at most 200 characters,
// without what it thought.
func SummaryLine(message string) string {
	if message == "" {
		return ""
	}
	if len(message) > 1<<20 {
		message = message[:1<<20]
	}
	if strings.Contains(message, "<think") || strings.Contains(message, "<THINK") {
		message = thinking.ReplaceAllString(message, " ")
	}
	return Fold(message, MaxSummary)
}

// OneLine returns a text as a title or an error is kept: on one line, at most 200
// characters.
func OneLine(s string) string { return Fold(s, MaxSummary) }

// Fold is s on one line: white space and control characters become single
// blanks, at most limit characters.
func Fold(s string, limit int) string {
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

// IsSlashCommand reports whether a prompt is a command to the agent: /name at
// the start. A path does not count.
func IsSlashCommand(prompt string) bool {
	if !strings.HasPrefix(prompt, "/") {
		return false
	}
	word, _, _ := strings.Cut(strings.ReplaceAll(prompt[1:], "\n", " "), " ")
	if word == "" {
		return false
	}
	for _, r := range word {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == ':') {
			return false
		}
	}
	return true
}
