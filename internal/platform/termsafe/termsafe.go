// Package termsafe makes text from agents safe to look at. An agent's text is hostile: it
// may carry terminal escapes, reverse the reading direction, hide words in characters that
// take no room, or use letters that look like others. Each such character is replaced by its
// escape, `\x1b` or `\u202e`, so that you see that it is there and the terminal does
// nothing.
//
// The contract:
//   - The output is valid UTF-8 without any character for which Dangerous holds. The one
//     exception is the variation selector that belongs to the symbol before it (❤️).
//   - Slashes and dots of other blocks, Cyrillic or Greek letters in Latin words, and the
//     third mark on a letter are escaped too. Whole words of any script stay. JSON, which
//     programs read, only loses what is dangerous.
//   - Clean text is returned as it is, without allocation.
//   - Output that is passed in again is unchanged. A literal `\x1b` in the input therefore
//     can't be told apart from an escape that was made visible; both are only text.
//
// It doesn't handle secrets; package redact does.
package termsafe

import (
	"unicode"
	"unicode/utf8"
)

// Text returns s with dangerous characters escaped. Line ends and tabs stay; a carriage return
// before a line end is dropped, elsewhere escaped.
func Text(s string) string {
	if firstUnsafe(s) == len(s) {
		return s
	}
	return string(appendSafe(make([]byte, 0, len(s)+16), s))
}

// Dangerous reports whether a character must not reach your screen as it is: control
// characters (except line feed and tab), whatever changes the reading direction, and
// whatever is there without being seen.
func Dangerous(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case r < 0xa0: // DEL and C1
		return true
	case r < 0x300:
		return r == 0xad
	}
	switch r {
	case 0x034f, // combining grapheme joiner
		0x115f, 0x1160, 0x3164, 0xffa0, // Hangul fillers: letters that show nothing
		0x17b4, 0x17b5, // Khmer vowels that show nothing
		0x2028, 0x2029, // line and paragraph separator
		0x2065, // unassigned among the invisible
		0x2800: // a Braille cell without dots
		return true
	}
	switch {
	case r >= 0x180b && r <= 0x180f, // Mongolian selectors
		r >= 0xfe00 && r <= 0xfe0f,   // variation selectors
		r >= 0xfff0 && r <= 0xfffb,   // unassigned invisible, annotation marks
		r >= 0xe0000 && r <= 0xe0fff: // tags, more selectors
		return true
	case r&0xfffe == 0xfffe: // not characters
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// firstUnsafe returns the position of the first character that Text changes.
func firstUnsafe(s string) int {
	ascii := 0
	for ascii < len(s) && (s[ascii] >= 0x20 && s[ascii] < 0x7f || s[ascii] == '\n' || s[ascii] == '\t') {
		ascii++
	}
	if ascii == len(s) || s[ascii] < utf8.RuneSelf {
		return ascii
	}
	rd := reader{s: s}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if rd.hides(i, r, size) {
			return i
		}
		i += size
	}
	return len(s)
}

// firstDangerous returns the position of the first character that EscapeJSON changes.
func firstDangerous(s string) int {
	prev := rune(0)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
				return i
			}
			prev = rune(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || Dangerous(r) && !styles(r, prev) {
			return i
		}
		prev = r
		i += size
	}
	return len(s)
}

// styles reports whether r is the selector that picks the look of the symbol
// before it. Anything else a selector follows would only carry it unseen.
func styles(r, prev rune) bool { return (r == 0xfe0f || r == 0xfe0e) && isSymbol(prev) }

// isSymbol reports whether a character has an emoji and a text form, or is an emoji.
// Digits, # and * have one too, but a selector after a digit is too good a hiding
// place.
func isSymbol(r rune) bool {
	switch {
	case r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x23ff, r >= 0x25a0 && r <= 0x27bf,
		r >= 0x2934 && r <= 0x2935, r >= 0x2b00 && r <= 0x2bff, r >= 0x1f000 && r <= 0x1faff:
		return true
	}
	switch r {
	case 0xa9, 0xae, 0x203c, 0x2049, 0x2122, 0x2139, 0x24c2, 0x3030, 0x303d, 0x3297, 0x3299:
		return true
	}
	return false
}

// appendSafe appends s with everything written out that must be.
func appendSafe(dst []byte, s string) []byte {
	rd := reader{s: s}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && i+1 < len(s) && s[i+1] == '\n':
			// The line end follows.
		case !rd.hides(i, r, size):
			dst = append(dst, s[i:i+size]...)
		case r == utf8.RuneError && size == 1:
			dst = appendByte(dst, s[i])
		default:
			dst = appendRune(dst, r)
		}
		i += size
	}
	return dst
}

const digits = "0123456789abcdef"

func appendByte(dst []byte, c byte) []byte {
	return append(dst, '\\', 'x', digits[c>>4], digits[c&15])
}

// appendRune writes r as \x1b, \u202e or \U000e0041.
func appendRune(dst []byte, r rune) []byte {
	n := 4
	switch {
	case r < 0x80:
		return appendByte(dst, byte(r))
	case r > 0xffff:
		n = 8
		dst = append(dst, '\\', 'U')
	default:
		dst = append(dst, '\\', 'u')
	}
	for shift := 4 * (n - 1); shift >= 0; shift -= 4 {
		dst = append(dst, digits[r>>shift&15])
	}
	return dst
}
