package paths

import "strings"

// Shorten writes the home as ~ wherever a text names it or a path below it.
func Shorten(home, text string) string {
	home = strings.TrimRight(home, "/")
	if home == "" || !strings.Contains(text, home) {
		return text
	}
	var b strings.Builder
	done := 0 // of the text
	for from := 0; ; {
		i := strings.Index(text[from:], home)
		if i < 0 {
			return b.String() + text[done:]
		}
		begin, end := from+i, from+i+len(home)
		from = end
		if begin > 0 && isNamePart(text[begin-1]) || end < len(text) && text[end] != '/' && isNamePart(text[end]) {
			continue // a folder of another path, or a longer name
		}
		b.WriteString(text[done:begin] + "~")
		done = end
	}
}

// isNamePart reports whether a character right before or after a path makes it
// another one.
func isNamePart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 ||
		strings.IndexByte("/._-~+@%", c) >= 0
}
