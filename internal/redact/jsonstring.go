package redact

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
)

// readString reads the string at pos. Most strings are clean and short: for them this is one pass,
// and nothing is copied. Only if something could be a secret, is too long, is broken or hides behind
// \u, is the string decoded and looked at.
func (w *walker) readString(secret string) bool {
	src := w.src
	start := w.pos + 1
	known := uint64(0) // the string in the cache
	if secret == "" && w.clean != nil && !w.dotenv {
		var end int
		if known, end = w.cacheKey(start); known != 0 && w.clean.Has(known) {
			w.lastString, w.lastEscape = span{start: start, end: end}, false
			w.pos = end + 1
			return true
		}
	}
	i := start
	escaped, unsure, broken := false, secret != "" || w.dotenv, false
scan:
	for {
		i = skipPlain(src, i)
		if i >= len(src) {
			return false
		}
		switch class[src[i]] {
		case classAnchor:
			unsure = unsure || isCandidate(src, start, i)
			i++
		case classQuote:
			break scan
		case classEscape:
			if i+1 >= len(src) {
				return false
			}
			escaped = true
			switch src[i+1] {
			case '"', '\\', 'b', 'f', 'n', 'r', 't':
				i += 2
			case '/': // part of a URL or of base64
				unsure = true
				i += 2
			case 'u':
				if jsontext.Hex4(src[i+2:]) < 0 {
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
	if !unsure && i-start >= wordMin {
		_, unsure = nextInWords(src[start:i], 0, w.mem, true)
		unsure = unsure || hasPasswordWord(src[start:i]) || hasPhrase(src[start:i])
	}
	if !unsure && !broken && i-start <= w.limit {
		if known != 0 {
			w.clean.Add(known)
		}
		return true
	}
	w.lastEscape = escaped
	text := src[start:i]
	if escaped {
		w.decoded = jsontext.AppendUnescaped(slices.Grow(w.decoded[:0], len(text)), text)
		text = viewText(w.decoded)
	}
	if secret != "" && text != "" && !redactmarks.IsWhole(text) && !isReference(text) && (!w.weak || looksSecret(text)) {
		noteSeen(w.mem, text)
		w.copyPending(start)
		w.dst = redactmarks.Append(w.dst, secret)
		w.base = i
		w.rep.Redacted++
		return true
	}
	w.rewriteString(text, start, i, broken)
	return true
}

// cacheKey returns the key of the string that begins at start, and where it ends; 0 for one that
// isn't kept: short, long, or possibly continuing after an escaped quote.
func (w *walker) cacheKey(start int) (key uint64, end int) {
	rest := w.src[start:min(len(w.src), start+min(w.limit, maxCleanText)+1)]
	n := strings.IndexByte(rest, '"')
	if n < wordMin || rest[n-1] == '\\' {
		return 0, 0
	}
	return w.clean.Key(rest[:n], askedString, w.mem.Noted()), start + n
}

// isReference reports whether a value only names a variable, as an MCP server's configuration
// does; the name is what matters in a journal.
func isReference(s string) bool {
	if len(s) < 2 || s[0] != '$' {
		return false
	}
	if s[1] == '{' && s[len(s)-1] == '}' {
		return RunEnd(s, 2, Name) == len(s)-1
	}
	return !IsDigit(s[1]) && isUpperName(s[1:]) && RunEnd(s, 1, Name) == len(s)
}

// rewriteString replaces the raw string src[start:end], whose decoded form is text,
// if anything has to change.
func (w *walker) rewriteString(text string, start, end int, broken bool) {
	clean := text
	if broken {
		clean = string(bytes.ToValidUTF8([]byte(text), []byte("\ufffd")))
	} else if len(text) <= w.limit {
		f := finder{s: text, mem: w.mem, dotenv: w.dotenv}
		if _, found := f.next(0); !found {
			return
		}
	}
	w.copyPending(start - 1)
	w.appendText(clean, text, true)
	w.base = end + 1
}

// appendText appends s as a JSON string, redacted and cut. orig is the text that the note on a
// cut describes; checked says that s is valid UTF-8.
func (w *walker) appendText(s, orig string, checked bool) {
	if !checked && !utf8.ValidString(s) {
		s = string(bytes.ToValidUTF8([]byte(s), []byte("\ufffd")))
	}
	long := false
	for range maxPasses {
		n := w.rep.Redacted
		w.rebuilt, w.spare = w.spare, w.rebuilt
		w.rebuilt = w.redactOnce(w.rebuilt[:0], s)
		long = long || len(w.rebuilt) > w.limit
		if w.rep.Redacted == n {
			break
		}
		s = viewText(w.rebuilt)
	}
	out := w.rebuilt
	if long {
		out = redactmarks.AppendCut(out[:cutIndex(out, w.limit-redactmarks.CutLength)], orig)
		w.rep.Cut++
	}
	w.dst = jsontext.AppendQuoted(w.dst, out)
	w.rebuilt = out
}

// redactOnce appends s with its secrets replaced, up to a little more than the limit.
func (w *walker) redactOnce(out []byte, s string) []byte {
	at := 0
	reach := &finder{s: s, mem: w.mem, dotenv: w.dotenv}
	for len(out) <= w.limit {
		var sp span
		var found bool
		sp, found, reach = w.nextInReach(reach, s, at, len(out))
		if !found {
			// One byte more than allowed is enough to know.
			return append(out, s[at:min(len(s), at+min(len(s), w.limit-len(out)+1))]...)
		}
		out = append(out, s[at:sp.start]...)
		if len(out) <= w.limit {
			w.rep.Redacted++
		}
		noteSeen(w.mem, s[sp.start:sp.end])
		out = redactmarks.Append(out, sp.kind)
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
	for j := at - 1; j >= 0 && at-j < redactmarks.Longest; j-- {
		if s[j] == '[' && j+redactmarks.LenAt(viewText(s[j:])) > at {
			return j
		}
	}
	return at
}

// nextInReach is next for a string that may be cut: of a giant, only what can
// still come before the cut is searched. It returns the finder to continue with.
func (w *walker) nextInReach(f *finder, s string, at, have int) (span, bool, *finder) {
	const slack = 64 << 10 // what a secret that begins before the cut may need
	need := at + w.limit - have + slack
	switch {
	case need+slack >= len(s):
		if len(f.s) < len(s) {
			f = &finder{s: s, mem: w.mem, dotenv: w.dotenv}
		}
	case len(f.s) == len(s) || len(f.s) < need:
		f = &finder{s: s[:need+slack], mem: w.mem, dotenv: w.dotenv}
	}
	sp, ok := f.next(at)
	if ok && sp.end == len(f.s) && len(f.s) < len(s) {
		f = &finder{s: s, mem: w.mem, dotenv: w.dotenv} // it may continue after the part
		sp, ok = f.next(at)
	}
	return sp, ok, f
}
