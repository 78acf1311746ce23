package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/ui/text"
)

// wrapStyled breaks styled lines between words. Further lines are indented a little deeper
// than the first; a style that goes on is opened again, so that it can't colour what is next
// to it.
func wrapStyled(lines []string, width int) []string {
	var out []string
	for _, line := range lines {
		if ansi.StringWidth(line) <= width {
			out = append(out, line)
			continue
		}
		indent := strings.Repeat(" ", min(leadingBlanks(line)+2, max(width/3, 0)))
		style := ""
		for i, part := range strings.Split(ansi.Wrap(line, max(width-len(indent), 1), ""), "\n") {
			if i > 0 {
				part = indent + style + part
			}
			if style = openStyle(part); style != "" {
				part += "\x1b[0m"
			}
			out = append(out, part)
		}
	}
	return out
}

func leadingBlanks(line string) int {
	line = ansi.Strip(line)
	return len(line) - len(strings.TrimLeft(line, " "))
}

// openStyle returns the style that is still open at the end of a text, "" for none.
func openStyle(s string) string {
	at := strings.LastIndex(s, "\x1b[")
	if at < 0 {
		return ""
	}
	end := strings.IndexByte(s[at:], 'm')
	if end < 0 || s[at:at+end+1] == "\x1b[0m" || s[at:at+end+1] == "\x1b[m" {
		return ""
	}
	return s[at : at+end+1]
}

// wrapMarked breaks a line of foreign text between words, with marks where it goes on.
func wrapMarked(line string, width int) []string { return text.WrapMarked(line, width) }

// indentWrapped wraps text after a mark; further lines are indented as far.
func indentWrapped(mark, line string, width int) []string {
	indent := ansi.StringWidth(mark)
	room := max(width-indent, 1)
	var out []string
	for i, part := range text.WrapParts(line, room, room) {
		shown := part.Visible()
		if part.Broken && ansi.StringWidth(shown) < room {
			shown += text.BrokenMark
		}
		if i == 0 {
			out = append(out, mark+shown)
		} else {
			out = append(out, strings.Repeat(" ", indent)+shown)
		}
	}
	return out
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
