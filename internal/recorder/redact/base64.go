package redact

import (
	"encoding/base64"
	"strings"
)

const (
	minBase64 = 20
	// maxBase64 bounds what is decoded of one word.
	maxBase64 = 64 << 10
)

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

// matchBase64 takes a word that is base64 of text with a secret in it. Only
// text counts: what a random word decodes to is none after a few bytes.
func matchBase64(s string, p int) (span, bool) {
	if !decodesToText(s[p:min(len(s), p+minBase64)]) {
		return span{}, false
	}
	end := runEnd(s, p, setBase64)
	if url := runEnd(s, p, setURL); url > end {
		end = runEnd(s, url, setBase64)
	}
	if end-p < minBase64 {
		return span{}, false
	}
	text := decodeBase64(s[p:end])
	if text == "" {
		return span{}, false
	}
	if strings.Contains(text[:min(len(text), 64)], "-----BEGIN ") && strings.Contains(text[:min(len(text), 96)], "PRIVATE") {
		return span{p, base64Lines(s, end), "base64-private-key"}, true
	}
	if !holdsSecret(text) {
		return span{}, false
	}
	return span{p, end, "base64-secret"}, true
}

// holdsSecret is one look at decoded text, not deeper.
func holdsSecret(text string) bool {
	if _, found := nextAnchored(text, 0); found {
		return true
	}
	if _, found := nextInWords(text, 0, nil, false); found {
		return true
	}
	_, found := nextPasswordWord(text, 0)
	return found
}

// decodesToText tells whether whole groups of s are base64 of printable text.
func decodesToText(s string) bool {
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

// decodeBase64 returns the text that s stands for, "" when it is none.
func decodeBase64(s string) string {
	s = strings.TrimRight(s[:min(len(s), maxBase64)], "=")
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

// base64Lines goes on from end over the lines of the same encoded text.
func base64Lines(s string, end int) int {
	for {
		k := end
		for k < len(s) && isSpace(s[k]) && k-end < 32 {
			k++
		}
		if k == end && strings.HasPrefix(s[k:], `\n`) {
			k += 2
		}
		stop := runEnd(s, k, setBase64)
		if k == end || stop-k < 16 && !strings.HasSuffix(s[:stop], "=") || stop == k {
			return end
		}
		end = stop
	}
}
