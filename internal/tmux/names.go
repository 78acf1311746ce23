package tmux

import (
	"context"
	"strings"
)

// What is remembered about a window that carries a name of ours.
const (
	optName      = "@hookmux_name"      // the name as we gave it
	optKept      = "@hookmux_name_kept" // the same as tmux keeps it: it has ways of its own with backslashes
	optNameUser  = "@hookmux_name_user" // the user's name before, escaped
	optAutoUser  = "@hookmux_auto_user" // the user's own automatic-rename: on, off, or inherit
	inheritValue = "inherit"
)

// windowState holds the facts that names depend on.
type windowState struct {
	id, name   string
	auto       string // the window's own automatic-rename, "" if it inherits
	ours       string // the name we gave, "" for none
	kept       string
	user       string // the name before
	autoBefore string
}

// readWindow reads a window as it is now.
func (s *Server) readWindow(ctx context.Context, id string) (windowState, error) {
	st := windowState{id: id}
	var err error
	if st.name, err = s.readValue(ctx, "display-message", "-p", "-t", id, "#{window_name}"); err != nil {
		return st, err
	}
	if st.auto, err = s.readValue(ctx, "show-options", "-wqv", "-t", id, "automatic-rename"); err != nil {
		return st, err
	}
	out, err := s.readValue(ctx, "display-message", "-p", "-t", id,
		strings.Join([]string{"#{" + optName + "}", "#{" + optKept + "}", "#{" + optNameUser + "}",
			"#{" + optAutoUser + "}"}, sep))
	if err != nil {
		return st, err
	}
	if f := strings.Split(out, sep); len(f) == 4 {
		st.ours, st.kept, st.user, st.autoBefore = f[0], f[1], f[2], f[3]
	}
	return st, nil
}

func (s *Server) readValue(ctx context.Context, args ...string) (string, error) {
	out, err := s.runCommand(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// NamedByUser reports whether the user fixed a window's name: they renamed it,
// or opened it with a name.
func (s *Server) NamedByUser(ctx context.Context, window string) (bool, error) {
	st, err := s.readWindow(ctx, window)
	return err == nil && st.ours == "" && st.auto == "off", err
}

// NameWindow gives a window a name of ours and remembers the user's. It does nothing, and returns
// false, once the user named the window after us.
func (s *Server) NameWindow(ctx context.Context, window, name string) (bool, error) {
	if !validID(window, '@') {
		return false, badWindow(window)
	}
	st, err := s.readWindow(ctx, window)
	if err != nil {
		return false, err
	}
	given := Name(name)
	if given == "" {
		return false, nil
	}
	if st.ours != "" && st.kept != st.name {
		return false, nil // the user's word is the last one
	}
	if st.ours == given {
		return true, nil
	}
	var commands [][]string
	if st.ours == "" {
		auto := st.auto
		if auto == "" {
			auto = inheritValue
		}
		commands = append(commands,
			[]string{"set-option", "-w", "-t", window, optNameUser, doubleHashes(st.name)},
			[]string{"set-option", "-w", "-t", window, optAutoUser, auto})
	}
	commands = append(commands,
		[]string{"set-option", "-w", "-t", window, optName, given},
		[]string{"rename-window", "-t", window, "--", given},
		[]string{"set-option", "-w", "-F", "-t", window, optKept, "#{window_name}"})
	err = s.runBatch(ctx, commands)
	return err == nil, err
}

// RestoreName restores the name and the automatic-rename option a window had before NameWindow. A name
// the user gave meanwhile stays.
func (s *Server) RestoreName(ctx context.Context, window string) error {
	if !validID(window, '@') {
		return badWindow(window)
	}
	st, err := s.readWindow(ctx, window)
	if err != nil || st.ours == "" {
		return err
	}
	var commands [][]string
	if st.kept == st.name {
		commands = append(commands, []string{"rename-window", "-t", window, "--",
			strings.ReplaceAll(st.user, `\\`, `\`)})
		// rename-window has switched it off: the user's own comes after it.
		if st.autoBefore == inheritValue || st.autoBefore == "" {
			commands = append(commands, []string{"set-option", "-w", "-u", "-t", window, "automatic-rename"})
		} else {
			commands = append(commands, []string{"set-option", "-w", "-t", window, "automatic-rename", st.autoBefore})
		}
	}
	for _, option := range []string{optName, optKept, optNameUser, optAutoUser} {
		commands = append(commands, []string{"set-option", "-w", "-u", "-t", window, option})
	}
	return s.runBatch(ctx, commands)
}

// doubleHashes escapes the user's own name, which tmux will expand again. A run of #
// before a [ is a style, and those tmux leaves as they are.
func doubleHashes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := i
		for n < len(s) && s[n] == '#' {
			n++
		}
		b.WriteString(s[i:n])
		if n == len(s) || s[n] != '[' {
			b.WriteString(s[i:n])
		}
		if n < len(s) {
			b.WriteByte(s[n])
			n++
		}
		i = n
	}
	return b.String()
}

type badWindow string

func (b badWindow) Error() string { return string(b) + " is not a tmux window; they look like @3" }
