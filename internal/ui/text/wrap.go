package text

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Part is a piece of a wrapped line.
type Part struct {
	Text   string
	Broken bool // a word goes on in the next part
	Hangs  bool // the blank at its end is beyond the edge
}

// Visible returns what of the part is on the screen.
func (p Part) Visible() string {
	if p.Hangs {
		return p.Text[:len(p.Text)-1]
	}
	return p.Text
}

// Marks of wrapped lines: what precedes each further part, so that a padded line of an agent
// can't pass for the next one, and what follows a part that ends inside a word.
const (
	GoesOnMark = "↪ "
	BrokenMark = "¬"
)

// EscapeMarks escapes the marks in text from elsewhere: a padded line could pass for a word
// that goes on.
func EscapeMarks(line string) string { return markEscapes.Replace(line) }

var markEscapes = strings.NewReplacer("↪", `\u21aa`, "¬", `\u00ac`)

// marksFrom is the width from which there is room for marks.
const marksFrom = 10

// WrapMarked breaks a line between words for a terminal of so many columns, with marks where
// it goes on. Only a word that is longer than a line is broken inside.
func WrapMarked(line string, width int) []string {
	first, rest, mark := MarkedWidths(width)
	parts := WrapParts(EscapeMarks(line), first, rest)
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = part.Visible()
		if mark && part.Broken {
			out[i] += BrokenMark
		}
		if mark && i > 0 {
			out[i] = GoesOnMark + out[i]
		}
	}
	return out
}

// MarkedWidths returns how much of a line fits next to the marks: in the first part and in
// the others. If there is no room for marks, there are none.
func MarkedWidths(width int) (first, rest int, marked bool) {
	width = max(width, 1)
	if width < marksFrom {
		return width, width, false
	}
	return width, width - 2, true
}

// WrapParts breaks a line between words into parts of at most first and then rest columns.
// One column stays free after a part that ends inside a word, if there are more than a few.
// Each character is measured as wide as any terminal may draw it: one that is measured too
// narrow would be cut off unseen at the edge. A tab becomes blanks first, for the same
// reason. Joined, the parts are the line: nothing is lost.
func WrapParts(line string, first, rest int) []Part {
	line = strings.ReplaceAll(line, "\t", "    ")
	first, rest = max(first, 1), max(rest, 1)
	if len(line) <= first && isPlain(line) {
		return []Part{{Text: line}}
	}
	var parts []Part
	start, width := 0, first
	for start < len(line) {
		part := cutPart(line[start:], width, rest)
		parts = append(parts, part)
		start, width = start+len(part.Text), rest
	}
	if parts == nil {
		return []Part{{}}
	}
	return parts
}

func isPlain(line string) bool {
	for i := range len(line) {
		if line[i] >= 0x80 {
			return false
		}
	}
	return true
}

// cutPart returns how much of a text fits in a line of so many columns; next is how many the
// following line has.
func cutPart(text string, width, next int) Part {
	used, between, inside := 0, 0, 0 // in bytes: the last place between words, and the last with a column left
	var before rune
	for i, r := range text {
		columns := columnsOf(r)
		if i > 0 && (before == ' ' || columnsOf(before) == 2 && !joinsBefore(r)) {
			between = i
		}
		if used+columns > width && i > 0 {
			switch {
			case r == ' ' && before != ' ':
				return Part{Text: text[:i+1], Hangs: true}
			case between > 0 && (inside <= between || !isLongWord(text[between:], next)):
				return Part{Text: text[:between]}
			case between == i || inside == 0 || width < marksFrom-2:
				return Part{Text: text[:i], Broken: between != i}
			}
			return Part{Text: text[:inside], Broken: true}
		}
		used += columns
		if used < width {
			inside = i + len(string(r))
		}
		before = r
	}
	return Part{Text: text}
}

// isLongWord reports whether the word at the beginning is wider than a line.
func isLongWord(text string, width int) bool {
	used := 0
	for _, r := range text {
		if r == ' ' {
			return false
		}
		if used += columnsOf(r); used > width {
			return true
		}
	}
	return false
}

// columnsOf returns how wide any terminal may draw a character.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == 0xfe0f:
		return 1 // it may make the symbol before it wide
	}
	return termsafe.Width(string(r))
}

// joinsBefore reports whether a character belongs to the one before it: a skin tone, or a
// selector of how it is drawn.
func joinsBefore(r rune) bool { return r == 0xfe0f || r == 0xfe0e || r >= 0x1f3fb && r <= 0x1f3ff }
