package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/termsafe"
)

// wrapLine breaks a line at the width; nothing of it is lost, spaces included.
func wrapLine(line string, width int) []string {
	if ansi.StringWidth(line) <= width {
		return []string{line}
	}
	return strings.Split(ansi.Hardwrap(line, max(width, 1), true), "\n")
}

// wrapPlain breaks text without styles at the width. Each character counts as wide
// as any terminal may draw it: what is counted too narrow would be cut off at the
// edge unseen. A tab becomes blanks first, for the same reason.
func wrapPlain(line string, width int) []string {
	width = max(width, 1)
	line = strings.ReplaceAll(line, "\t", "    ")
	var out []string
	start, used := 0, 0
	for i, r := range line {
		columns := 1
		if r >= 0x300 {
			columns = termsafe.Width(string(r))
		}
		if r == 0xfe0f {
			columns = 1 // it may make the symbol before it wide
		}
		if used+columns > width && i > start {
			out = append(out, line[start:i])
			start, used = i, 0
		}
		used += columns
	}
	return append(out, line[start:])
}

// wrapMarked is wrapPlain with a mark before each further line: a padded line of an
// agent cannot pass for the next one.
func wrapMarked(line string, width int) []string {
	const mark = "↪ "
	parts := wrapPlain(line, width)
	if len(parts) == 1 || width < 10 {
		return parts
	}
	rest := strings.Join(parts[1:], "")
	parts = parts[:1]
	for _, part := range wrapPlain(rest, width-2) {
		parts = append(parts, mark+part)
	}
	return parts
}

func wrapAll(lines []string, width int) []string {
	var out []string
	for _, line := range lines {
		out = append(out, wrapLine(line, width)...)
	}
	return out
}

// indentWrapped wraps text behind a mark; further lines are indented as far.
func indentWrapped(mark, line string, width int) []string {
	indent := ansi.StringWidth(mark)
	parts := wrapPlain(line, max(width-indent, 1))
	for i := range parts {
		if i == 0 {
			parts[i] = mark + parts[i]
		} else {
			parts[i] = strings.Repeat(" ", indent) + parts[i]
		}
	}
	return parts
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// fill makes the lines exactly as many as fit.
func fill(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}
