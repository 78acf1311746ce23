package text

import "strings"

// DiffTitle returns the line above a difference: what happened to which file.
func (s Style) DiffTitle(change, file string) string { return s.bold(change + " " + file) }

// DiffLine returns one line of a unified difference; its text must be safe to show.
func (s Style) DiffLine(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return s.bold(line)
	case strings.HasPrefix(line, "+"):
		return s.green(line)
	case strings.HasPrefix(line, "-"):
		return s.red(line)
	case strings.HasPrefix(line, "@@"):
		return s.cyan(line)
	}
	return line
}
