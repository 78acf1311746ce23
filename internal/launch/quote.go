package launch

import "strings"

// ShellWords writes arguments as one line that every POSIX shell reads back as
// the same arguments.
func ShellWords(args []string) string { return shellWords(args) }

func shellWords(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = shellQuote(arg)
	}
	return strings.Join(quoted, " ")
}

// shellQuote leaves plain words as they are: they are read by people and
// compared by agents.
func shellQuote(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:@%+,=", c) >= 0
	}
	// A leading "=" means something to zsh, NAME=value in front to all.
	if plain && !strings.Contains(s, "=") {
		return s
	}
	if plain && strings.HasPrefix(s, "-") {
		return s // a flag with its value
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
