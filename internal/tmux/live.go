package tmux

import (
	"context"
	"slices"
	"strings"
)

// Load has a running server read our own file.
func (s *Server) Load(ctx context.Context, own string) error {
	_, err := s.runCommand(ctx, "source-file", "-q", own)
	return err
}

// Unload removes from a running server what our file put in: icons, keys, marks and names.
func (s *Server) Unload(ctx context.Context) error {
	var commands [][]string
	for _, option := range iconFormats {
		value, err := s.readValue(ctx, "show-options", "-gv", option)
		if err != nil {
			return err
		}
		if strings.Contains(value, iconPart) {
			commands = append(commands, []string{"set-option", "-g", option, strings.ReplaceAll(value, iconPart, "")})
		}
	}
	bound, err := s.prefixBindings(ctx)
	if err != nil {
		return err
	}
	for key, command := range bound {
		if isOurCommand(command) {
			commands = append(commands, []string{"unbind-key", "-T", "prefix", key})
		}
	}
	if err := s.runEach(ctx, commands); err != nil {
		return err
	}
	return s.Clear(ctx)
}

// ShowsIcons reports whether the server's window formats have our part.
func (s *Server) ShowsIcons(ctx context.Context) bool {
	value, err := s.readValue(ctx, "show-options", "-gv", iconFormats[0])
	return err == nil && strings.Contains(value, "@hookmux_icon")
}

// Taken lists the keys of Keys that a running server has bound to something
// else.
func (s *Server) Taken(ctx context.Context, keys Keys) ([]string, error) {
	bound, err := s.prefixBindings(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range []string{keys.Jump, keys.Popup} {
		if command, ok := bound[key]; ok && key != "" && !isOurCommand(command) {
			out = append(out, key)
		}
	}
	return out, nil
}

// prefixBindings returns the keys after the prefix and what they do.
func (s *Server) prefixBindings(ctx context.Context) (map[string]string, error) {
	out, err := s.runCommand(ctx, "list-keys", "-T", "prefix")
	if err != nil {
		return nil, err
	}
	bound := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		_, rest, ok := strings.Cut(line, " prefix ")
		if !ok {
			continue
		}
		if key, command, ok := strings.Cut(strings.TrimSpace(rest), " "); ok {
			bound[strings.TrimPrefix(key, `\`)] = strings.TrimSpace(command)
		}
	}
	return bound, nil
}

// isOurCommand recognises what a key of ours runs, also one that an earlier
// version bound.
func isOurCommand(command string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \"'\\", r) })
	return strings.Contains(command, "hookmux") && (strings.Contains(command, "jump --next") ||
		strings.Contains(command, "ps -f") || slices.Contains(words, "up"))
}
