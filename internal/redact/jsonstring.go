package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads the string at pos. Most strings are clean and short: for them this
// is one pass, and nothing is copied. Only when something could be a secret, is
// too long, is broken or hides behind \u, the string is decoded and looked at.
func (w *walker) str(secret string) bool {
	src := w.src
	start := w.pos + 1
	i := start
	escaped, unsure, broken := false, secret != "", false
scan:
	for {
		i = skipPlain(src, i)
		if i >= len(src) {
			return false
		}
		switch class[src[i]] {
		case classAnchor:
			unsure = unsure || candidate(src, start, i)
			i++
		case classQuote:
			break scan
		case classEscape:
			if i+1 >= len(src) {
				return false
			}
			escaped = true
			switch src[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if i+6 > len(src) || hex4(src[i+2:i+6]) < 0 {
					return false
				}
				unsure = true
				i += 6
			default:
				return false
			}
		case classHigh:
			r, size := utf8.DecodeRuneInString(src[i:])
			broken = broken || r == utf8.RuneError && size == 1
			i += size
		default:
			return false // a control character
		}
	}
	w.lastString, w.lastEscape = span{start: start, end: i}, false
	w.pos = i + 1
	if !unsure && !broken && i-start <= w.limit {
		return true
	}
	w.lastEscape = escaped
	text := src[start:i]
	if escaped {
		w.decoded = appendDecoded(slices.Grow(w.decoded[:0], len(text)), text)
		text = view(w.decoded)
	}
	if secret != "" && text != "" && !isMark(text) && !isReference(text) {
		w.flush(start)
		w.dst = appendMark(w.dst, secret)
		w.base = i
		w.rep.Redacted++
		return true
	}
	w.rewrite(text, start, i, broken)
	return true
}

// isReference: an MCP server's configuration names variables, and the name is
// what the reader of a journal wants.
func isReference(s string) bool {
	if len(s) < 2 || s[0] != '$' {
		return false
	}
	if s[1] == '{' && s[len(s)-1] == '}' {
		return run(s, 2, setName) == len(s)-1
	}
	return !isDigit(s[1]) && isUpperName(s[1:]) && run(s, 1, setName) == len(s)
}

// rewrite replaces the raw string src[start:end], whose decoded form is text,
// if anything has to change.
func (w *walker) rewrite(text string, start, end int, broken bool) {
	clean := text
	if broken {
		clean = string(bytes.ToValidUTF8([]byte(text), []byte("\ufffd")))
	} else if len(text) <= w.limit {
		if _, found := next(text, 0); !found {
			return
		}
	}
	w.flush(start - 1)
	w.text(clean, text, true)
	w.base = end + 1
}

// text appends s as a JSON string, redacted and cut. orig is what the note on a
// cut describes; checked says that s is valid UTF-8.
func (w *walker) text(s, orig string, checked bool) {
	if !checked && !utf8.ValidString(s) {
		s = string(bytes.ToValidUTF8([]byte(s), []byte("\ufffd")))
	}
	long := false
	for range maxPasses {
		n := w.rep.Redacted
		w.rebuilt, w.spare = w.spare, w.rebuilt
		w.rebuilt = w.pass(w.rebuilt[:0], s)
		long = long || len(w.rebuilt) > w.limit
		if w.rep.Redacted == n {
			break
		}
		s = view(w.rebuilt)
	}
	out := w.rebuilt
	if long {
		out = appendCut(out[:cutIndex(out, w.limit-cutRoom)], orig)
		w.rep.Cut++
	}
	w.dst = appendQuoted(w.dst, out)
	w.rebuilt = out
}

// pass appends s with its secrets replaced, up to a little more than the limit.
func (w *walker) pass(out []byte, s string) []byte {
	at := 0
	for len(out) <= w.limit {
		sp, found := w.nextInReach(s, at, len(out))
		if !found {
			// One byte more than allowed is enough to know.
			return append(out, s[at:min(len(s), at+min(len(s), w.limit-len(out)+1))]...)
		}
		out = append(out, s[at:sp.start]...)
		if len(out) <= w.limit {
			w.rep.Redacted++
		}
		out = appendMark(out, sp.kind)
		at = sp.end
	}
	return out
}

// cutIndex returns the last place up to at where s may be cut: not inside a
// character, and not inside a replacement.
func cutIndex(s []byte, at int) int {
	at = min(at, len(s))
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	for j := at - 1; j >= 0 && at-j < maxMark; j-- {
		if s[j] == '[' && j+markLen(view(s[j:])) > at {
			return j
		}
	}
	return at
}

// nextInReach is next for a string that may be cut: of a giant, only what can
// still come before the cut is searched.
func (w *walker) nextInReach(s string, at, have int) (span, bool) {
	const slack = 64 << 10 // what a secret that begins before the cut may need
	if len(s)-at <= slack || w.limit-have >= len(s)-at-slack {
		return next(s, at)
	}
	part := s[:at+w.limit-have+slack]
	sp, found := next(part, at)
	if found && sp.end == len(part) {
		return next(s, at) // it may go on behind the part
	}
	return sp, found
}

const (
	cutHead = "…[cut: "
	cutMid  = " bytes, sha256 "
	cutHash = 8 // bytes of the hash that are shown
	// cutRoom is the longest the note can be; 19 is the digits of an int64.
	cutRoom = len(cutHead) + 19 + len(cutMid) + 2*cutHash + len("]")
)

func appendCut(dst []byte, orig string) []byte {
	h := sha256.New()
	// Fed in parts through a small buffer: a copy of a giant string is avoided.
	var buf [4096]byte
	for at := 0; at < len(orig); {
		n := copy(buf[:], orig[at:])
		h.Write(buf[:n])
		at += n
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	dst = append(dst, cutHead...)
	dst = strconv.AppendInt(dst, int64(len(orig)), 10)
	dst = append(dst, cutMid...)
	dst = hex.AppendEncode(dst, sum[:cutHash])
	return append(dst, ']')
}

// appendDecoded undoes the escapes of a string that was checked before. A half
// of a surrogate pair becomes U+FFFD.
func appendDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && s[i] != '\\' {
			i++
		}
		dst = append(dst, s[from:i]...)
		if i >= len(s) {
			break
		}
		c := s[i+1]
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
			r := hex4(s[i : i+4])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if i+6 <= len(s) && s[i] == '\\' && s[i+1] == 'u' {
					low = hex4(s[i+2 : i+6])
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

func appendQuoted(dst, s []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// hex4 reads four hex digits, -1 if they are none.
func hex4(s string) rune {
	var r rune
	for i := 0; i < 4; i++ {
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
