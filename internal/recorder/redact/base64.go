package redact

import (
	"strings"

	"github.com/hookmux/hookmux/internal/recorder/redact/base64text"
)

const (
	minBase64 = 20
	// maxBase64 bounds what is decoded of one word.
	maxBase64 = 64 << 10
)

// matchBase64 takes a word that is base64 of text with a secret in it. Only
// text counts: what a random word decodes to is none after a few bytes.
func matchBase64(s string, p int) (span, bool) {
	if !base64text.Begins(s[p:min(len(s), p+minBase64)]) {
		return span{}, false
	}
	end := runEnd(s, p, setBase64)
	if url := runEnd(s, p, setURL); url > end {
		end = runEnd(s, url, setBase64)
	}
	if end-p < minBase64 {
		return span{}, false
	}
	text := base64text.Decode(s[p:min(end, p+maxBase64)])
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
