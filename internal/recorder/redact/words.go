package redact

import (
	"strings"

	"github.com/hookmux/hookmux/internal/recorder/redact/seen"
)

// The shortest unbroken words that are looked at as a whole: tokenMin for what
// shows in the word itself, wordMin when values seen before are looked for too.
const wordMin, tokenMin = 12, 16

// nextInWords finds the first secret at or behind from that shows in a long
// word itself: a shape without an anchor, base64 of a secret, or a value that
// the memory knows. Long words are rare, so the search jumps from the end of a
// window to the next instead of reading every byte.
func nextInWords(s string, from int, mem *seen.Memory, deep bool) (span, bool) {
	s = s[from:]
	least, set := tokenMin, uint8(setToken)
	if !mem.Empty() {
		least, set = wordMin, setDark
	}
	for i := 0; i+least <= len(s); {
		k := i + least - 1
		for k >= i && sets[s[k]]&set != 0 {
			k--
		}
		if k >= i {
			i = k + 1
			continue
		}
		end := runEnd(s, i+least, set)
		if sp, ok := matchLongWord(s, i, end, mem, deep); ok {
			return span{sp.start + from, sp.end + from, sp.kind}, true
		}
		i = end + 1
	}
	return span{}, false
}

// matchLongWord looks at s[start:end], at every place where letters or digits
// begin. deep allows to look into base64.
func matchLongWord(s string, start, end int, mem *seen.Memory, deep bool) (span, bool) {
	for p := start; p < end; {
		if !isAlnum(s[p]) {
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
		p = runEnd(s, p, setAlnum)
	}
	return span{}, false
}

func matchWordStart(s string, p, end int, mem *seen.Memory, deep bool) (span, bool) {
	if heads := wordShapes[s[p]]; heads != nil {
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
	if deep && end-p >= minBase64 && (p == 0 || sets[s[p-1]]&setBase64 == 0) {
		if sp, ok := matchBase64(s, p); ok {
			return sp, true
		}
	}
	return matchSpoken(s, p)
}

// wordShape is a token that begins with prefix at the beginning of a word.
type wordShape struct {
	prefix string
	kind   string
	set    uint8
	min    int  // bytes after the prefix
	exact  bool // min is the whole length
	loose  bool // may stand behind a dash or underscore
	dense  bool // needs an unbroken run that looks random
	check  func(s string, at int) (span, bool)
}

var wordShapes = func() (t [256][]wordShape) {
	for _, sh := range wordShapeList() {
		t[sh.prefix[0]] = append(t[sh.prefix[0]], sh)
	}
	return t
}()

func matchWordShape(list []wordShape, s string, at int) (span, bool) {
	for k := range list {
		sh := &list[k]
		if !strings.HasPrefix(s[at:], sh.prefix) || !startsWord(s, at, !sh.loose) {
			continue
		}
		if sh.check != nil {
			if sp, ok := sh.check(s, at); ok {
				if sp.kind == "" {
					sp.kind = sh.kind
				}
				return sp, true
			}
			continue
		}
		body := at + len(sh.prefix)
		end := runEnd(s, body, sh.set)
		if end-body < sh.min || sh.exact && (end-body != sh.min || !endsWord(s, end)) || sh.dense && !isDense(s[body:end]) {
			continue
		}
		if !sh.exact {
			end = runEnd(s, end, setURL)
		}
		return span{at, end, sh.kind}, true
	}
	return span{}, false
}

// isDense tells a random token from words: an unbroken run of 16 letters and
// digits in which the sizes of letters and the digits follow each other as they
// do in no name.
func isDense(body string) bool {
	body = body[:min(len(body), 256)]
	for i := 0; i < len(body); {
		end := runEnd(body, i, setAlnum)
		if end-i >= 16 && isRandom(body[i:end]) {
			return true
		}
		i = end + 1
	}
	return false
}

func isRandom(s string) bool {
	const lower, upper, digit = 0, 1, 2
	digits, uppers, odd, last := 0, 0, 0, lower
	for i := 0; i < len(s); i++ {
		kind := lower
		switch c := s[i]; {
		case isDigit(c):
			kind = digit
			digits++
		case c <= 'Z':
			kind = upper
			uppers++
		}
		// ReadUint16Length goes from small to capital, from letters to a number
		// and from a number to a capital; the rest is odd.
		if kind == upper && last == upper || kind == lower && last == digit || kind == digit && last == upper {
			odd++
		}
		last = kind
	}
	if digits < 2 || digits == len(s) {
		return false
	}
	if uppers > 1 && uppers < len(s)-digits {
		return odd >= 3
	}
	return digits*5 >= len(s)
}

// matchTilde: two shapes have their mark in the middle, behind a tilde.
func matchTilde(s string, i int) (span, bool) {
	if i >= 6 && s[i-6:i] == "sha256" && startsWord(s, i-6, true) {
		end := runEnd(s, i+1, setURL)
		return span{i - 6, end, "openshift-token"}, end-i-1 == 43
	}
	// Microsoft Entra: three characters, a digit, "Q~" and 31 to 34 more.
	at := i - 5
	if at < 0 || s[i-1] != 'Q' || !isDigit(s[i-2]) || !startsWord(s, at, false) {
		return span{}, false
	}
	end := i + 1
	for end < len(s) && (sets[s[end]]&setURL != 0 || s[end] == '.' || s[end] == '~') {
		end++
	}
	n := end - i - 1
	return span{at, end, "azure-secret"}, n >= 31 && n <= 36 && isMixed(s[i+1:end])
}

const minSpoken = 16

// matchSpoken takes a random word that somebody calls a secret in a sentence or
// hands to a command by place: "the token is X", "vault login X".
func matchSpoken(s string, p int) (span, bool) {
	if p < 5 || s[p-1] != ' ' && !isQuote(s[p-1]) || !isDenseStart(s, p) {
		return span{}, false
	}
	end := runEnd(s, p, setAlnum|setURL)
	if end-p < minSpoken || onlyHex(s[p:end]) || !isDense(s[p:end]) {
		return span{}, false
	}
	if end < len(s) && (s[end] == '(' || s[end] == '/' || s[end] == '.' && end+1 < len(s) && isAlnum(s[end+1])) {
		return span{}, false
	}
	word, rest := lastWord(s[max(0, p-48):p])
	if word == "is" || word == "was" || word == "to" || len(word) == 1 && isDigit(word[0]) {
		word, rest = lastWord(rest)
	}
	if kind, _ := nameKindOf(word); kind != "" {
		return span{p, end, kind}, true
	}
	switch word {
	case "authtoken", "login":
		return span{p, end, "token"}, true
	case "key":
		switch before, _ := lastWord(rest); before {
		case "api", "secret", "access", "private", "auth", "account", "master", "signing":
			return span{p, end, "key"}, true
		}
	}
	return span{}, false
}

// isDenseStart is a quick look at the first bytes of a word: code has far more
// long words of letters only.
func isDenseStart(s string, p int) bool {
	for k := p; k < len(s) && k < p+minSpoken; k++ {
		if isDigit(s[k]) {
			return true
		}
	}
	return false
}

func onlyHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isHex(s[i]|0x20) && s[i] != '-' {
			return false
		}
	}
	return true
}

// lastWord returns the last word of s in small letters and what stands before.
func lastWord(s string) (word, rest string) {
	end := len(s)
	for end > 0 && !isAlnum(s[end-1]) && s[end-1] != '\n' {
		end--
	}
	at := end
	for at > 0 && isAlnum(s[at-1]) {
		at--
	}
	return lowerASCII(s[at:end]), s[:at]
}
