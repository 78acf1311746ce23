package foreign

import "strings"

// SplitQuoted splits a line at its blanks and removes quotes, as tmux and screen do. A separate
// ";" stays a word; "#" starts a comment.
func SplitQuoted(line string) []string {
	var out []string
	var b strings.Builder
	open, quote := false, byte(0)
	end := func() {
		if open {
			out = append(out, b.String())
		}
		b.Reset()
		open = false
	}
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case quote == 0 && (ch == ' ' || ch == '\t'):
			end()
		case quote == 0 && ch == '#' && !open:
			return out
		case ch == '\\' && quote != '\'' && i+1 < len(line):
			i++
			open = true
			b.WriteByte(line[i])
		case quote == 0 && (ch == '\'' || ch == '"'):
			quote, open = ch, true
		case quote != 0 && ch == quote:
			quote = 0
		default:
			open = true
			b.WriteByte(ch)
		}
	}
	end()
	return out
}

// CrontabCommands returns the commands of a crontab: after five fields, or after @daily and the
// like.
func CrontabCommands(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := 5
		if line[0] == '@' {
			fields = 1
		}
		for ; fields > 0 && line != ""; fields-- {
			i := strings.IndexAny(line, " \t")
			if i < 0 {
				i = len(line)
			}
			line = strings.TrimLeft(line[i:], " \t")
		}
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// TmuxCalls returns the commands in #(command) of a tmux format, up to most of them.
func TmuxCalls(text string, most int) []string {
	var out []string
	for len(out) < most {
		_, rest, ok := strings.Cut(text, "#(")
		if !ok {
			break
		}
		end := strings.LastIndexByte(rest, ')')
		if end < 0 {
			end = len(rest)
		}
		out = append(out, rest[:end])
		text = rest
	}
	return out
}

// TransportWords splits the command of git's ext:: address, in which "% " is a blank inside a
// word.
func TransportWords(text string) []string {
	const blank = "\x00"
	fields := strings.Fields(strings.ReplaceAll(text, "% ", blank))
	for i, f := range fields {
		fields[i] = strings.ReplaceAll(f, blank, " ")
	}
	return fields
}

// NestedBeyond reports whether more brackets are open at once than allowed. It ignores
// quotes: quoted brackets make it count too many, which only matters for text no one writes
// by hand.
func NestedBeyond(src string, most int) bool {
	depth, words := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth > 0 {
				depth--
			}
		case 'f', 'n', 'o': // if, then, while … do: keywords open a level, too
			if i > 0 && (src[i-1] == 'i' && src[i] == 'f' || src[i-1] == 'd' && src[i] == 'o') {
				words++
			}
		}
		if depth > most || words > 20*most {
			return true
		}
	}
	return false
}

// IsAssignment reports whether a word is NAME=value.
func IsAssignment(s string) bool {
	i := strings.IndexByte(s, '=')
	if i <= 0 {
		return false
	}
	for j := 0; j < i; j++ {
		ch := s[j]
		if ch != '_' && (ch < '0' || ch > '9' || j == 0) && (ch < 'A' || ch > 'Z') && (ch < 'a' || ch > 'z') {
			return false
		}
	}
	return true
}

// SplitsString reports whether a cluster of env's options contains S: -S, -vS, -iS'text'.
func SplitsString(option string) bool {
	flags, _, ok := strings.Cut(option, "S")
	return ok && len(flags) > 0 && flags[0] == '-' && strings.Trim(flags[1:], "iv0") == ""
}

// OpenHeredoc returns the delimiter of a here-document that a parser found unclosed. The parser
// says so only in its message.
func OpenHeredoc(err error) (string, bool) {
	_, quoted, ok := strings.Cut(err.Error(), "unclosed here-document ")
	if !ok {
		return "", false
	}
	delimiter := strings.Trim(quoted, "`\"'")
	return delimiter, delimiter != ""
}
