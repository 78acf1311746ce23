package redact

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/redactmarks"
)

// harmlessHead reports from its first bytes whether a value is a reference, a placeholder or
// something we put there ourselves. It looks at a bounded part, so it may be called before the
// value's end is known.
func harmlessHead(s string) bool {
	if s == "" {
		return true
	}
	switch s[0] {
	case '$':
		return len(s) > 1 && (s[1] == '{' || s[1] == '(')
	case '{':
		return strings.HasPrefix(s, "{{") || len(s) > 1 && IsLetter(s[1]) && templateEnd(s) > 0
	case '#':
		return isColour(s)
	case '?':
		return len(s) == 1 || endsValue(s[1])
	case '<':
		return true
	case '/':
		for _, root := range pathRoots {
			if strings.HasPrefix(s, root) {
				return true
			}
		}
	case '.':
		return strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "...")
	case '~':
		return strings.HasPrefix(s, "~/")
	case '[':
		n := redactmarks.LenAt(s)
		return n > 0 && (n == len(s) || endsValue(s[n]))
	case 'p':
		return strings.HasPrefix(s, "process.env")
	case 'o':
		return strings.HasPrefix(s, "os.environ") || strings.HasPrefix(s, "os.Getenv") ||
			strings.HasPrefix(s, "os.getenv")
	case redactmarks.CutHead[0]:
		return strings.HasPrefix(s, redactmarks.CutHead)
	}
	return false
}

// templateEnd returns the end of a {name} that is filled in later, 0 if none.
func templateEnd(s string) int {
	end := RunEnd(s, 1, Name)
	if end < len(s) && s[end] == '}' && (end+1 == len(s) || endsValue(s[end+1])) {
		return end + 1
	}
	return 0
}

// isColour reports whether s is a colour like #fff and #a0b1c2 in a style.
func isColour(s string) bool {
	end := 1
	for end < len(s) && end < 10 && IsHex(s[end]|0x20) {
		end++
	}
	return (end == 4 || end == 7 || end == 9) && (end == len(s) || endsValue(s[end]))
}

// endsValue reports whether a byte ends a value. Only such a byte may follow a mark of ours;
// otherwise a secret was put after it.
func endsValue(c byte) bool {
	return IsSpace(c) || IsQuote(c) || strings.IndexByte(";&|<>)(]},\\@", c) >= 0
}

var pathRoots = []string{
	"/home/", "/Users/", "/root/", "/etc/", "/var/", "/usr/", "/opt/", "/tmp/", "/run/", "/private/", "/mnt/", "/proc/",
	"/dev/", "/secrets/",
}

// isHarmless checks a whole value.
func isHarmless(s string) bool {
	if harmlessHead(s) || redactmarks.IsWhole(s) {
		return true
	}
	if s[0] == '$' && len(s) > 1 && !IsDigit(s[1]) && RunEnd(s, 1, Alnum|URL) == len(s) &&
		strings.IndexByte(s, '-') < 0 {
		return true // $NAME
	}
	if s[0] == '%' && (len(s) == 2 || s[len(s)-1] == '%') {
		return true // %s, %NAME%
	}
	if strings.Contains(s[:min(len(s), lookahead)], "${") {
		return true // text with a part that is filled in later
	}
	if len(s) > 16 {
		return strings.Trim(s, "*") == ""
	}
	if strings.Trim(s, s[:1]) == "" && (s[0] == '*' || s[0] == 'x' || s[0] == 'X' || s[0] == '.') {
		return true
	}
	switch LowerASCII(s) {
	case "true", "false", "null", "nil", "none", "undefined", "yes", "no", "on", "off", "0", "1",
		"string", "str", "bool", "redacted", "[redacted]", "required", "optional", "password", "passwd", "token",
		"secret":
		return true
	}
	return false
}

// proseWord reports whether s is one of the words that follow a flag in prose about it.
func proseWord(s string) bool {
	switch LowerASCII(s) {
	case "to", "is", "or", "and", "for", "from", "in", "with", "flag", "flags", "option", "options", "value",
		"argument",
		"as", "must", "can", "if", "not", "on", "the", "via", "be", "was", "are", "instead", "here", "when", "by",
		"but", "you", "your", "used", "it", "that", "this", "a", "an", "may", "will", "should", "at", "of":
		return true
	}
	return false
}

// lookahead is how much of an unquoted value is examined.
const lookahead = 256
