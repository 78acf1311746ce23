package redact

import (
	"encoding/base64"
	"strings"
)

// This file distinguishes base64 of text from other words.

var base64Value = func() (t [256]uint8) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = uint8(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

// Begins reports whether whole groups of s are base64 of printable text.
func Begins(s string) bool {
	for len(s) >= 4 {
		a, b, c, d := base64Value[s[0]], base64Value[s[1]], base64Value[s[2]], base64Value[s[3]]
		if (a|b|c|d)&0x80 != 0 {
			return false
		}
		n := uint32(a)<<18 | uint32(b)<<12 | uint32(c)<<6 | uint32(d)
		if !isPrintable(byte(n>>16)) || !isPrintable(byte(n>>8)) || !isPrintable(byte(n)) {
			return false
		}
		s = s[4:]
	}
	return true
}

func isPrintable(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' }

// Decode returns the text that s encodes, "" if it encodes no text.
func Decode(s string) string {
	s = strings.TrimRight(s, "=")
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	coding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		coding = base64.RawURLEncoding
	}
	out, err := coding.DecodeString(s)
	if err != nil {
		return ""
	}
	for _, c := range out {
		if !isPrintable(c) {
			return ""
		}
	}
	return string(out)
}
