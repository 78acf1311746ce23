package redact

import (
	"strings"
)

// The shortest unbroken words that are looked at as a whole: tokenMin for what
// shows in the word itself, wordMin when values seen before are looked for too.
const wordMin, tokenMin = 12, 16

// nextInWords finds the first secret at or after from that shows in a long word itself: a shape
// without an anchor, base64 of a secret, or a value that the memory knows. Long words are rare,
// so the search jumps from the end of a window to the next instead of reading every byte.
func nextInWords(s string, from int, mem *Memory, deep bool) (span, bool) {
	s = s[from:]
	least, set := tokenMin, uint8(Token)
	if !mem.Empty() {
		least, set = wordMin, Dark
	}
	for i := 0; i+least <= len(s); {
		k := i + least - 1
		for k >= i && Sets[s[k]]&set != 0 {
			k--
		}
		if k >= i {
			i = k + 1
			continue
		}
		end := RunEnd(s, i+least, set)
		if sp, ok := matchLongWord(s, i, end, mem, deep); ok {
			return span{sp.start + from, sp.end + from, sp.kind}, true
		}
		i = end + 1
	}
	return span{}, false
}

// matchLongWord looks at s[start:end], at every place where letters or digits
// begin. deep allows to look into base64.
func matchLongWord(s string, start, end int, mem *Memory, deep bool) (span, bool) {
	for p := start; p < end; {
		if !IsAlnum(s[p]) {
			if s[p] == '~' {
				if sp, ok := matchTilde(s, p); ok {
					return sp, true
				}
			}
			p++
			continue
		}
		if sp, ok := matchWordStart(s, p, end, mem, deep); ok {
			return sp, true
		}
		if p > 0 && s[p-1] == '\\' && (s[p] == 'n' || s[p] == 't' || s[p] == 'r') && p+1 < end {
			if sp, ok := matchWordStart(s, p+1, end, mem, deep); ok {
				return sp, true
			}
		}
		p = RunEnd(s, p, Alnum)
	}
	return span{}, false
}

func matchWordStart(s string, p, end int, mem *Memory, deep bool) (span, bool) {
	if heads := wordShapes()[s[p]]; heads != nil {
		if sp, ok := matchWordShape(heads, s, p); ok {
			return sp, true
		}
	}
	if mem != nil {
		if n := mem.LookUp(s[p:end]); n > 0 {
			return span{p, p + n, "seen-before"}, true
		}
	}
	if end-p < minSpoken {
		return span{}, false
	}
	if deep && end-p >= minBase64 && (p == 0 || Sets[s[p-1]]&Base64 == 0) {
		if sp, ok := matchBase64(s, p); ok {
			return sp, true
		}
	}
	return matchSpoken(s, p)
}

// matchTilde matches the two shapes that have their mark in the middle, after a tilde.
func matchTilde(s string, i int) (span, bool) {
	if i >= 6 && s[i-6:i] == "sha256" && StartsWord(s, i-6, true) {
		end := RunEnd(s, i+1, URL)
		return span{i - 6, end, "openshift-token"}, end-i-1 == 43
	}
	// Microsoft Entra: three characters, a digit, "Q~" and 31 to 34 more.
	at := i - 5
	if at < 0 || s[i-1] != 'Q' || !IsDigit(s[i-2]) || !StartsWord(s, at, false) {
		return span{}, false
	}
	end := i + 1
	for end < len(s) && (Sets[s[end]]&URL != 0 || s[end] == '.' || s[end] == '~') {
		end++
	}
	n := end - i - 1
	return span{at, end, "azure-secret"}, n >= 31 && n <= 36 && IsMixed(s[i+1:end])
}

const minSpoken = 16

// matchSpoken finds a random word that is called a secret in a sentence or passed to a command
// by position: "the token is X", "vault login X".
func matchSpoken(s string, p int) (span, bool) {
	if p < 5 || s[p-1] != ' ' && !IsQuote(s[p-1]) || !isDenseStart(s, p) {
		return span{}, false
	}
	end := RunEnd(s, p, Alnum|URL)
	if end-p < minSpoken || OnlyHex(s[p:end]) || !IsDense(s[p:end]) {
		return span{}, false
	}
	if end < len(s) && (s[end] == '(' || s[end] == '/' || s[end] == '.' && end+1 < len(s) && IsAlnum(s[end+1])) {
		return span{}, false
	}
	word, rest := LastWord(s[max(0, p-48):p])
	if word == "is" || word == "was" || word == "to" || len(word) == 1 && IsDigit(word[0]) {
		word, rest = LastWord(rest)
	}
	if kind, _ := nameKindOf(word); kind != "" {
		return span{p, end, kind}, true
	}
	switch word {
	case "authtoken", "login":
		return span{p, end, "token"}, true
	case "key":
		switch before, _ := LastWord(rest); before {
		case "api", "secret", "access", "private", "auth", "account", "master", "signing":
			return span{p, end, "key"}, true
		}
	}
	return span{}, false
}

// isDenseStart takes a quick look at the first bytes of a word: code has far more
// long words of letters only.
func isDenseStart(s string, p int) bool {
	for k := p; k < len(s) && k < p+minSpoken; k++ {
		if IsDigit(s[k]) {
			return true
		}
	}
	return false
}

const (
	minBase64 = 20
	// maxBase64 bounds what is decoded of one word.
	maxBase64 = 64 << 10
)

// matchBase64 finds a word that is base64 of text with a secret in it. Only text qualifies: what
// a random word decodes to stops being text after a few bytes.
func matchBase64(s string, p int) (span, bool) {
	if !Begins(s[p:min(len(s), p+minBase64)]) {
		return span{}, false
	}
	end := RunEnd(s, p, Base64)
	if url := RunEnd(s, p, URL); url > end {
		end = RunEnd(s, url, Base64)
	}
	if end-p < minBase64 {
		return span{}, false
	}
	text := Decode(s[p:min(end, p+maxBase64)])
	if text == "" {
		return span{}, false
	}
	if strings.Contains(text[:min(len(text), 64)], "-----BEGIN ") &&
		strings.Contains(text[:min(len(text), 96)], "PRIVATE") {
		return span{p, base64Lines(s, end), "base64-private-key"}, true
	}
	if !holdsSecret(text) {
		return span{}, false
	}
	return span{p, end, "base64-secret"}, true
}

// holdsSecret looks once at decoded text, not deeper.
func holdsSecret(text string) bool {
	if _, found := nextAnchored(text, 0); found {
		return true
	}
	if _, found := nextInWords(text, 0, nil, false); found {
		return true
	}
	if _, found := nextPasswordWord(text, 0); found {
		return true
	}
	for i := range phrases {
		if _, found := nextPlaced(&phrases[i], text, 0); found {
			return true
		}
	}
	return false
}

// base64Lines continues from end over the lines of the same encoded text.
func base64Lines(s string, end int) int {
	for {
		k := end
		for k < len(s) && IsSpace(s[k]) && k-end < 32 {
			k++
		}
		if k == end && strings.HasPrefix(s[k:], `\n`) {
			k += 2
		}
		stop := RunEnd(s, k, Base64)
		if k == end || stop-k < 16 && !strings.HasSuffix(s[:stop], "=") || stop == k {
			return end
		}
		end = stop
	}
}
