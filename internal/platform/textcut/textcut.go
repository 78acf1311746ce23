// Package textcut shortens texts without cutting a character in two.
package textcut

import (
	"strings"
	"unicode/utf8"
)

// Bytes is the beginning of s, of at most so many bytes.
func Bytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Marked is Bytes with "…" behind what was cut.
func Marked(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return Bytes(s, most) + "…"
}

// FirstLine is s up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
