package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// quote writes a string between double quotes so that JSON, YAML and TOML all
// read it the same way: everything that could be invisible is escaped.
func quote(s string) string {
	raw, _ := encode(s)
	var b strings.Builder
	for _, r := range string(raw) {
		switch {
		case r == 0x7f, r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printable reports whether a string contains nothing that needs an escape.
func printable(s string) bool {
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe ||
			r == 0xffff || r == utf8.RuneError {
			return false
		}
	}
	return true
}
