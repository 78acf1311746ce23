package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Remove removes backslashes as the shell does and reports unquoted globs.
func Remove(s string, quoted bool) (string, bool) {
	if !strings.ContainsAny(s, `\*?[`) {
		return s, false
	}
	if !strings.Contains(s, `\`) {
		return s, !quoted
	}
	var b strings.Builder
	glob := false
	for i := 0; i < len(s); i++ {
		ch := s[i]
		if ch != '\\' || i+1 == len(s) {
			glob = glob || !quoted && strings.IndexByte("*?[", ch) >= 0
			b.WriteByte(ch)
			continue
		}
		next := s[i+1]
		switch {
		case next == '\n':
			i++
		case !quoted || strings.IndexByte("$`\"\\", next) >= 0:
			b.WriteByte(next)
			i++
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), glob
}

var ansiSimple = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': '\n', 'r': '\r', 't': '\t', 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ANSIC decodes the inside of $'…'.
func ANSIC(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		ch := s[i]
		if r, ok := ansiSimple[ch]; ok {
			b.WriteByte(r)
			continue
		}
		switch {
		case ch == 'x':
			n, used := parseDigits(s[i+1:], 16, 2)
			b.WriteByte(byte(n))
			i += used
		case ch == 'u' || ch == 'U':
			limit := 4
			if ch == 'U' {
				limit = 8
			}
			n, used := parseDigits(s[i+1:], 16, limit)
			if n > utf8.MaxRune {
				n = utf8.RuneError
			}
			b.WriteRune(rune(n))
			i += used
		case ch >= '0' && ch <= '7':
			n, used := parseDigits(s[i:], 8, 3)
			b.WriteByte(byte(n))
			i += used - 1
		case ch == 'c' && i+1 < len(s):
			i++
			b.WriteByte(s[i] & 0x1f)
		default:
			b.WriteByte('\\')
			b.WriteByte(ch)
		}
	}
	return b.String()
}

func parseDigits(s string, base, limit int) (int64, int) {
	n := 0
	for n < len(s) && n < limit {
		if _, err := strconv.ParseInt(s[n:n+1], base, 64); err != nil {
			break
		}
		n++
	}
	v, _ := strconv.ParseInt(s[:n], base, 64)
	return v, n
}
