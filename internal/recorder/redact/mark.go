package redact

import (
	"strings"
)

const (
	markHead = "[redacted:"
	maxMark  = 40
)

func appendMark(dst []byte, kind string) []byte {
	dst = append(dst, markHead...)
	dst = append(dst, kind...)
	return append(dst, ']')
}

// isMark reports whether s is exactly one replacement of ours. The whole form
// is checked, so that nobody hides a secret behind our opening words.
func isMark(s string) bool {
	if len(s) <= len(markHead)+1 || s[:len(markHead)] != markHead || s[len(s)-1] != ']' {
		return false
	}
	kind := s[len(markHead) : len(s)-1]
	if len(s) > maxMark {
		return false
	}
	for i := 0; i < len(kind); i++ {
		if c := kind[i]; c != '-' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// markLen is the length of the replacement that s begins with, 0 if none.
func markLen(s string) int {
	end := strings.IndexByte(s[:min(len(s), maxMark)], ']')
	if end < 0 || !isMark(s[:end+1]) {
		return 0
	}
	return end + 1
}

// span is one secret: s[start:end] is replaced, kind says by what.
type span struct {
	start, end int
	kind       string
}

// ReplaceMarks puts another text in the place of every replacement in s, and
// reports whether there was one.
func ReplaceMarks(s, by string) (text string, found bool) {
	at := strings.Index(s, markHead)
	if at < 0 {
		return s, false
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at:]
		n := markLen(s)
		if n > 0 {
			b.WriteString(by)
			found = true
		} else {
			n = len(markHead)
			b.WriteString(s[:n])
		}
		s = s[n:]
		at = strings.Index(s, markHead)
	}
	b.WriteString(s)
	return b.String(), found
}

// IsCut reports whether a string of JSON was cut when it was stored.
func IsCut(s string) bool {
	return strings.HasSuffix(s, "]") && strings.LastIndex(s, cutHead) >= max(0, len(s)-cutRoom)
}
