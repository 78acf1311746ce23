package redact

import "strings"

// This file classifies bytes: sets of characters that tokens and names are made of, and where
// words begin and end.

// SkipBlanks steps over blanks between a sign and its value.
func SkipBlanks(s string, k int) int {
	for n := 0; k < len(s) && n < 64 && (s[k] == ' ' || s[k] == '\t'); n++ {
		k++
	}
	return k
}

// IsQuote reports whether c opens or closes a quoted text.
func IsQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// HasPrefixFold is strings.HasPrefix without regard to case.
func HasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// IsLetter reports whether c is an ASCII letter.
func IsLetter(c byte) bool { return IsAlnum(c) && !IsDigit(c) }

// LowerASCII returns a short word in lower case; a long one comes back as it is.
func LowerASCII(s string) string {
	if len(s) > 16 {
		return s
	}
	return strings.ToLower(s)
}

// Character sets of token bodies.
const (
	Alnum = 1 << iota
	URL   // alnum, '-', '_'
	Upper // A-Z, 0-9
	Hex   // 0-9, a-f
	Name  // what an identifier, flag or header name is made of
	Base64
	Dark  // what a word without blanks, quotes and backslashes is made of
	Token // what providers' tokens and base64 are made of
)

// Sets holds for each byte the sets it belongs to.
var Sets = func() (t [256]uint8) {
	for c := 0; c < 128; c++ {
		if c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '`' && c != '\\' {
			t[c] |= Dark
		}
		digit := c >= '0' && c <= '9'
		upper := c >= 'A' && c <= 'Z'
		lower := c >= 'a' && c <= 'z'
		if digit || upper || lower || strings.IndexByte("-_.~+/=|", byte(c)) >= 0 {
			t[c] |= Token
		}
		if digit || upper || lower {
			t[c] |= Alnum | URL | Name | Base64
		}
		if digit || upper {
			t[c] |= Upper
		}
		if digit || c >= 'a' && c <= 'f' {
			t[c] |= Hex
		}
	}
	t['-'] |= URL | Name
	t['_'] |= URL | Name
	t['.'] |= Name
	t['+'] |= Base64
	t['/'] |= Base64
	t['='] |= Base64
	return t
}()

// IsHex reports whether c is a digit or one of a to f.
func IsHex(c byte) bool { return Sets[c]&Hex != 0 }

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool { return Sets[c]&Alnum != 0 }

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsSpace reports whether c is a blank, a tab or a line end.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// RunEnd returns the end of the run of set members that begins at i.
func RunEnd(s string, i int, set uint8) int {
	for i < len(s) && Sets[s[i]]&set != 0 {
		i++
	}
	return i
}

// StartsWord reports whether a token can begin at i. The letter of a written
// escape (`\n` in text that is itself escaped) is not part of the word. With
// strict, a dash or underscore before it means we are inside a longer word.
func StartsWord(s string, i int, strict bool) bool {
	if i == 0 {
		return true
	}
	p := s[i-1]
	if IsAlnum(p) {
		return i >= 2 && s[i-2] == '\\' && (p == 'n' || p == 't' || p == 'r')
	}
	return !strict || p != '-' && p != '_'
}

// EndsWord reports whether there is no letter or digit at i.
func EndsWord(s string, i int) bool { return i >= len(s) || !IsAlnum(s[i]) }

// IsMixed reports whether s holds a letter and a digit. It looks at a bounded part:
// a long value decides itself early, and looking must stay linear.
func IsMixed(s string) bool {
	letter, digit := false, false
	for i := 0; i < len(s) && i < 256; i++ {
		switch c := s[i]; {
		case IsDigit(c):
			digit = true
		case IsAlnum(c):
			letter = true
		}
		if letter && digit {
			return true
		}
	}
	return false
}
