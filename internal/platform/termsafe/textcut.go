package termsafe

import (
	"strings"
	"unicode/utf8"
)

// CutBytes returns the beginning of s, up to most bytes.
func CutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// CutMarked is CutBytes with "…" after a text that was cut.
func CutMarked(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return CutBytes(s, most) + "…"
}

// FirstLine is s up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
