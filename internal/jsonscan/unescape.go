package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unescape resolves the escapes of a string body that was checked before.
// Half a surrogate pair becomes U+FFFD.
func unescape(body []byte) string {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		c := body[i]
		if c != '\\' || i+1 >= len(body) {
			out = append(out, c)
			i++
			continue
		}
		i++
		switch c = body[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := fourHex(body, i+1)
			i += 4
			if utf16.IsSurrogate(r) {
				if i+2 < len(body) && body[i+1] == '\\' && body[i+2] == 'u' {
					if pair := utf16.DecodeRune(r, fourHex(body, i+3)); pair != utf8.RuneError {
						out = utf8.AppendRune(out, pair)
						i += 7
						continue
					}
				}
				r = utf8.RuneError
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
		i++
	}
	return string(out)
}

func fourHex(b []byte, i int) rune {
	if i+4 > len(b) {
		return utf8.RuneError
	}
	var r rune
	for _, c := range b[i : i+4] {
		r = r<<4 | hexValue(c)
	}
	return r
}
