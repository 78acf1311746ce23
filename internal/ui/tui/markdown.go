package tui

import "strings"

// markdown colours the lines of a plan. It changes no text: what you approve is what the
// agent wrote.
type markdown struct{ fenced bool } // inside of a code block

// ink colours one line, byte by byte.
func (m *markdown) ink(line string) []ink {
	inks := make([]ink, len(line))
	paint := func(from, to int, with ink) {
		for i := from; i < to; i++ {
			inks[i] = with
		}
	}
	start := len(line) - len(strings.TrimLeft(line, " "))
	rest := line[start:]
	switch {
	case strings.HasPrefix(rest, "```"):
		m.fenced = !m.fenced
		paint(start, len(line), inkComment)
		return inks
	case m.fenced:
		paint(start, len(line), inkText)
		return inks
	case isHeading(rest):
		paint(start, len(line), inkHeading)
		return inks
	}
	if n := bulletWidth(rest); n > 0 {
		paint(start, start+n, inkBullet)
		start += n
	}
	for at := start; at < len(line); {
		mark, with := "`", inkText
		if strings.HasPrefix(line[at:], "**") {
			mark, with = "**", inkStrong
		}
		if !strings.HasPrefix(line[at:], mark) {
			at++
			continue
		}
		end := strings.Index(line[at+len(mark):], mark)
		if end < 1 {
			at += len(mark)
			continue
		}
		to := at + len(mark) + end
		paint(at, at+len(mark), inkComment)
		paint(at+len(mark), to, with)
		paint(to, to+len(mark), inkComment)
		at = to + len(mark)
	}
	return inks
}

func isHeading(line string) bool {
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	return marks > 0 && marks <= 6 && strings.HasPrefix(line[marks:], " ")
}

// bulletWidth returns how long the mark of a list's line is: "- ", "* ", "12. "; 0 for none.
func bulletWidth(line string) int {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") {
		return 1
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits > 0 && digits < 4 && (strings.HasPrefix(line[digits:], ". ") || strings.HasPrefix(line[digits:], ") ")) {
		return digits + 1
	}
	return 0
}
