package jsontext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// This file writes and reads JSON strings, byte by byte: encoding/json is more than a hook
// process may link, and it fixes bytes that aren't UTF-8, which must come through as they
// are. Standard library only, and little of it.

// AppendQuoted appends s as a JSON string. Bytes from 0x80 up are written unchanged; no other
// unprintable byte is.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		dst = AppendEscape(append(dst, s[from:i]...), c)
		from = i + 1
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// AppendEscape appends a byte that can't be written as itself in a JSON string.
func AppendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// AppendUnescaped appends the value of a string whose body, without the quotes, was checked
// before. Half a surrogate pair becomes U+FFFD.
func AppendUnescaped[T string | []byte](dst []byte, body T) []byte {
	for i := 0; i < len(body); {
		from := i
		for i < len(body) && body[i] != '\\' {
			i++
		}
		dst = append(dst, body[from:i]...)
		if i+1 >= len(body) {
			return append(dst, body[i:]...)
		}
		c := body[i+1]
		i += 2
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := Hex4(body[i:])
			i = min(i+4, len(body))
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if i+2 <= len(body) && body[i] == '\\' && body[i+1] == 'u' {
					low = Hex4(body[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Hex4 reads the four hex digits that s begins with; -1 if they are not hex digits.
func Hex4[T string | []byte](s T) rune {
	if len(s) < 4 {
		return -1
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// EscapeBreaks escapes control characters inside the strings of a document, where JSON
// forbids them. A document without any is returned as it is.
func EscapeBreaks(doc []byte) []byte {
	var out []byte
	inside, escaped, from := false, false, 0
	for i, c := range doc {
		switch {
		case escaped:
			escaped = false
		case c == '"':
			inside = !inside
		case inside && c == '\\':
			escaped = true
		}
		if inside && c < 0x20 {
			out = AppendEscape(append(out, doc[from:i]...), c)
			from = i + 1
		}
	}
	if from == 0 {
		return doc
	}
	return append(out, doc[from:]...)
}
