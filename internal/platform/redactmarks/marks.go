// Package redactmarks holds the marks that redaction leaves in a text: the replacement of a
// secret, and the end of a text that was cut. Readers of stored texts see by them what is
// missing.
package redactmarks

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Head begins the replacement of a secret; Longest is how long that can be.
const (
	Head    = "[redacted:"
	Longest = 40
)

// Append appends the replacement for a secret of some kind.
func Append(dst []byte, kind string) []byte {
	dst = append(dst, Head...)
	dst = append(dst, kind...)
	return append(dst, ']')
}

// IsWhole reports whether s is exactly one of hookmux's replacements. The whole form is
// checked, so that no one can hide a secret behind the opening text.
func IsWhole(s string) bool {
	if len(s) <= len(Head)+1 || s[:len(Head)] != Head || s[len(s)-1] != ']' {
		return false
	}
	kind := s[len(Head) : len(s)-1]
	if len(s) > Longest {
		return false
	}
	for i := 0; i < len(kind); i++ {
		if c := kind[i]; c != '-' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// LenAt returns the length of the replacement that s begins with, 0 if none.
func LenAt(s string) int {
	end := strings.IndexByte(s[:min(len(s), Longest)], ']')
	if end < 0 || !IsWhole(s[:end+1]) {
		return 0
	}
	return end + 1
}

// ReplaceAll replaces every replacement in s with another text, and reports whether there was
// one.
func ReplaceAll(s, by string) (text string, found bool) {
	at := strings.Index(s, Head)
	if at < 0 {
		return s, false
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at:]
		n := LenAt(s)
		if n > 0 {
			b.WriteString(by)
			found = true
		} else {
			n = len(Head)
			b.WriteString(s[:n])
		}
		s = s[n:]
		at = strings.Index(s, Head)
	}
	b.WriteString(s)
	return b.String(), found
}

const (
	// CutHead begins the note at the end of a text that was cut.
	CutHead = "…" + CutHeadPlain
	// CutHeadPlain is it without what JSON may escape.
	CutHeadPlain = "[cut: "
	cutMid       = " bytes, sha256 "
	// CutHash is how many bytes of the hash are shown.
	CutHash = 8
	// CutLength is the longest the note can be; 19 is the digits of an int64.
	CutLength = len(CutHead) + 19 + len(cutMid) + 2*CutHash + len("]")
)

// AppendCut appends the note on a cut: how long the whole was, and its hash.
func AppendCut(dst []byte, whole string) []byte {
	h := sha256.New()
	// Fed in parts through a small buffer: a copy of a giant string is avoided.
	var buf [4096]byte
	for at := 0; at < len(whole); {
		n := copy(buf[:], whole[at:])
		h.Write(buf[:n])
		at += n
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	dst = append(dst, CutHead...)
	dst = strconv.AppendInt(dst, int64(len(whole)), 10)
	dst = append(dst, cutMid...)
	dst = hex.AppendEncode(dst, sum[:CutHash])
	return append(dst, ']')
}

// IsCut reports whether a text was cut.
func IsCut(s string) bool {
	return strings.HasSuffix(s, "]") && strings.LastIndex(s, CutHead) >= max(0, len(s)-CutLength)
}
