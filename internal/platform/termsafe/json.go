package termsafe

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// WriteJSON writes v as JSON and a line end. A character for which Dangerous
// holds is written as \uXXXX: a terminal does nothing with it, and a program that
// parses the text gets the same value. With indent, the text takes many lines.
func WriteJSON(w io.Writer, v any, indent bool) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(EscapeJSON(buf.Bytes()))
	return err
}

// EscapeJSON returns JSON text with dangerous characters escaped. Such characters only occur
// in strings, so nothing has to be parsed. Bytes that aren't UTF-8 become U+FFFD, as parsers
// read them. Clean text is returned as it is.
func EscapeJSON(text []byte) []byte {
	at := firstDangerous(string(text))
	if at == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+32), text[:at]...)
	prev, _ := utf8.DecodeLastRune(text[:at])
	for i := at; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case r == '\r':
			out = append(out, ' ') // between values; in a string it is escaped already
		case Dangerous(r) && !styles(r, prev):
			out = appendUnit(out, r)
			r = 0
		default:
			out = append(out, text[i:i+size]...)
		}
		prev = r
		i += size
	}
	return out
}

// appendUnit writes r as one or two \uXXXX.
func appendUnit(dst []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		dst = appendUnit(dst, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
