package tmux

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Screen is the text of a pane at one moment: its lines, without blanks at their ends.
type Screen struct {
	Lines   []string
	Columns int
}

// Screen reads what a pane shows. Copy mode is left first: keys would go to it.
func (s *Server) Screen(ctx context.Context, id string) (Screen, error) {
	p, err := s.Pane(ctx, id)
	if err != nil {
		return Screen{}, err
	}
	if p.Dead {
		return Screen{}, fmt.Errorf("nothing runs in pane %s any more", id)
	}
	if p.InMode {
		if _, err := s.runCommand(ctx, "copy-mode", "-q", "-t", id); err != nil {
			return Screen{}, err
		}
	}
	columns, err := s.readValue(ctx, "display-message", "-p", "-t", id, "#{pane_width}")
	if err != nil {
		return Screen{}, err
	}
	out, err := s.runCommand(ctx, "capture-pane", "-p", "-t", id)
	if err != nil {
		return Screen{}, err
	}
	var screen Screen
	screen.Columns, _ = strconv.Atoi(columns)
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		screen.Lines = append(screen.Lines, strings.TrimRight(line, " \t\r"))
	}
	return screen, nil
}

// PressWhile presses keys in a pane if it still shows the given lines of a screen where they were. The
// server compares and presses in one step, so nothing that the pane draws can come in between. It
// returns false if something else is shown, and nothing was pressed.
func (s *Server) PressWhile(ctx context.Context, id string, screen Screen, first, last int, keys ...string) (bool, error) {
	if !validID(id, '%') {
		return false, fmt.Errorf("%q is not a tmux pane; they look like %%3", id)
	}
	var shows, at strings.Builder
	for _, line := range screen.Lines[first : last+1] {
		pattern, expression := searchFor(line)
		if pattern == "" {
			continue
		}
		shows.WriteString("#{C:" + pattern + "}.")
		at.WriteString(strconv.Itoa(firstLine(screen.Lines, expression)) + ".")
	}
	if shows.Len() == 0 {
		return false, fmt.Errorf("pane %s shows nothing that could be compared", id)
	}
	condition := "#{==:" + shows.String() + "#{pane_in_mode}," + at.String() + "0}"
	press := "send-keys -t " + id
	for _, key := range keys {
		if !isKeyName(key) {
			return false, fmt.Errorf("%q is not the name of a key", key)
		}
		press += " " + key
	}
	out, err := s.runCommand(ctx, "if-shell", "-F", "-t", id, condition, press+" ; display-message -p pressed",
		"display-message -p differs")
	return err == nil && strings.TrimSpace(out) == "pressed", err
}

// searchFor turns a line into a pattern for tmux, and into what finds the same here. What
// means something to tmux, and what its locale may spell otherwise, matches anything.
func searchFor(line string) (pattern string, expression *regexp.Regexp) {
	var glob, expr strings.Builder
	plain := 0
	for _, r := range strings.TrimSpace(line) {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == ' ', r == '_', r == '.', r == '/', r == '-':
			plain++
			glob.WriteRune(r)
			expr.WriteString(regexp.QuoteMeta(string(r)))
		case r < 0x80:
			glob.WriteByte('?')
			expr.WriteByte('.')
		case !strings.HasSuffix(glob.String(), "*"):
			glob.WriteByte('*')
			expr.WriteString(".*")
		}
	}
	if plain == 0 {
		return "", nil
	}
	return glob.String(), regexp.MustCompile(expr.String())
}

// firstLine returns the number of the first line that fits, from 1.
func firstLine(lines []string, expression *regexp.Regexp) int {
	for i, line := range lines {
		if expression.MatchString(line) {
			return i + 1
		}
	}
	return 0
}

// isKeyName keeps what is pressed from being anything but a key.
func isKeyName(key string) bool {
	if key == "" || len(key) > 8 {
		return false
	}
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
