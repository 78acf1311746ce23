package foreign

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// DecodeBase64 decodes text with or without padding.
func DecodeBase64(s string) (string, bool) {
	s = strings.Join(strings.Fields(s), "")
	out, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		out, err = base64.RawStdEncoding.DecodeString(s)
	}
	return string(out), err == nil
}

// DecodeHex decodes pairs of hexadecimal digits.
func DecodeHex(s string) (string, bool) {
	out, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	return string(out), err == nil
}

// ReverseLines turns each line around, as rev does.
func ReverseLines(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		rs := []rune(l)
		for a, b := 0, len(rs)-1; a < b; a, b = a+1, b-1 {
			rs[a], rs[b] = rs[b], rs[a]
		}
		lines[i] = string(rs)
	}
	return strings.Join(lines, "\n"), true
}
