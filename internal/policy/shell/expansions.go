package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// FieldEnd returns where the first word of an expanded value ends. Blanks inside an expansion
// that isn't known belong to it.
func FieldEnd(s, seps string, dynamic bool) int {
	for i := 0; i < len(s); i++ {
		switch {
		case strings.IndexByte(seps, s[i]) >= 0:
			return i
		case dynamic && (s[i] == '$' || s[i] == '`'):
			i += expansionLength(s[i:]) - 1
		}
	}
	return len(s)
}

// expansionLength returns the length of the expansion at the start of s.
func expansionLength(s string) int {
	if s[0] == '`' {
		if end := strings.IndexByte(s[1:], '`'); end >= 0 {
			return end + 2
		}
		return len(s)
	}
	if len(s) < 2 {
		return 1
	}
	if s[1] == '(' || s[1] == '{' {
		depth := 0
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '(', '{':
				depth++
			case ')', '}':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(s)
	}
	if s[1] >= '0' && s[1] <= '9' {
		return 2
	}
	n := 1
	for n < len(s) && (s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return max(n, min(2, len(s)))
}

// WithoutUnknown removes every expansion that may be empty from s.
func WithoutUnknown(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' && s[i] != '`' {
			b.WriteByte(s[i])
			continue
		}
		n := expansionLength(s[i:])
		if programs.AlwaysSet(strings.Trim(s[i:i+n], "${}")) {
			b.WriteString(s[i : i+n])
		}
		i += n - 1
	}
	return b.String()
}
