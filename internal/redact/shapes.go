package redact

import (
	"strings"
)

// shape is a token with a fixed beginning that ends in the anchor.
type shape struct {
	prefix string
	kind   string
	set    uint8
	min    int  // bytes after the prefix
	strict bool // for short prefixes: not inside a dashed word
	mix    bool // letters and digits both needed
	exact  bool // min is the whole length
	dense  bool // needs an unbroken run that looks random
	uuid   bool // a UUID follows
}

type shapeTable [256][]shape

// byLastByte files shapes under the byte before their anchor.
func byLastByte(list []shape) *shapeTable {
	t := &shapeTable{}
	for _, sh := range list {
		c := sh.prefix[len(sh.prefix)-2]
		t[c] = append(t[c], sh)
	}
	return t
}

// knownPrefix reports whether some prefix of the table ends at the anchor s[i].
func knownPrefix(t *shapeTable, s string, lo, i int) bool {
	list := t[s[i-1]]
	if len(list) == 0 || i-2 < lo {
		return false
	}
	before := s[i-2]
	for k := range list {
		p := list[k].prefix
		if len(p) > 2 && p[len(p)-3] != before {
			continue
		}
		if at := i + 1 - len(p); at >= lo && s[at:i+1] == p {
			return true
		}
	}
	return false
}

func matchPrefix(t *shapeTable, s string, from, i int) (span, bool) {
	if i == 0 {
		return span{}, false
	}
	for k := range t[s[i-1]] {
		sh := &t[s[i-1]][k]
		at := i + 1 - len(sh.prefix)
		if at < from || s[at:i+1] != sh.prefix {
			continue
		}
		if sh.prefix == "sk-" {
			if sp, ok := matchSK(s, at); ok {
				return sp, true
			}
			continue
		}
		glued := !StartsWord(s, at, sh.strict)
		if glued && sh.strict {
			continue
		}
		end := RunEnd(s, i+1, sh.set)
		body := s[i+1 : end]
		if sh.uuid && !isUUID(s[i+1:min(len(s), i+1+36)]) || sh.dense && !IsDense(body) {
			continue
		}
		if glued && !isUnmistakable(body) {
			continue
		}
		if len(body) < sh.min || sh.exact && (len(body) != sh.min || !EndsWord(s, end)) ||
			sh.mix && !IsMixed(body) {
			continue
		}
		// A narrow set must not leave the tail of a longer secret behind.
		if !sh.exact {
			end = RunEnd(s, end, URL)
		}
		return span{at, end, sh.kind}, true
	}
	return span{}, false
}

// The vendors that put a word of their own after "sk-". With it, a short body is enough; without
// it, only an unbroken run distinguishes a key from a CSS class.
var skVendors = []struct{ word, kind string }{
	{"ant-", "anthropic-key"},
	{"proj-", "openai-key"},
	{"svcacct-", "openai-key"},
	{"admin-", "openai-key"},
	{"or-v1-", "openrouter-key"},
	{"lf-", "langfuse-key"},
}

func matchSK(s string, at int) (span, bool) {
	body := at + len("sk-")
	for _, v := range skVendors {
		if !strings.HasPrefix(s[body:], v.word) {
			continue
		}
		start := body + len(v.word)
		end := RunEnd(s, start, URL)
		if end-start >= 6 && StartsWord(s, at, false) || isUnmistakable(s[start:end]) {
			return span{at, end, v.kind}, true
		}
		return span{}, false
	}
	if !StartsWord(s, at, true) {
		return span{}, false
	}
	end := RunEnd(s, body, URL)
	for i := body; i < end; {
		stop := RunEnd(s, i, Alnum)
		if part := s[i:stop]; len(part) >= 20 || len(part) >= 16 && IsMixed(part) {
			return span{at, end, "sk-key"}, true
		}
		i = stop + 1
	}
	return span{}, false
}

// isUnmistakable: a long unbroken body makes a secret also of a token that sticks
// to the word before it.
func isUnmistakable(body string) bool {
	if len(body) < 30 {
		return false
	}
	for i := 0; i < len(body) && i < 256; {
		end := RunEnd(body, i, Alnum)
		if end-i >= 16 && IsMixed(body[i:end]) {
			return true
		}
		i = end + 1
	}
	return false
}

// botBefore returns the start of the number between "/bot" and the colon s[i], as in the
// addresses of Telegram's interface; -1 if there is none.
func botBefore(s string, lo, i int) int {
	at := i
	for at > lo && IsDigit(s[at-1]) && i-at < 16 {
		at--
	}
	if at == i || at-lo < len("bot") || s[at-len("bot"):at] != "bot" {
		return -1
	}
	return at
}

func matchTelegram(s string, i int) (span, bool) {
	if at := botBefore(s, 0, i); at >= 0 {
		end := RunEnd(s, i+1, URL)
		address := strings.HasSuffix(s[:at], "/bot") && strings.Contains(s[max(0, at-40):at], "telegram")
		if address && end-i-1 >= 8 || end-i-1 >= 20 && IsMixed(s[i+1:end]) {
			return span{at, end, "telegram-token"}, true
		}
	}
	if !strings.HasPrefix(s[i:], ":AA") {
		return span{}, false
	}
	at := i
	for at > 0 && IsDigit(s[at-1]) && i-at < 12 {
		at--
	}
	// "bot123:AA…" is how the token is written in Telegram's own URLs.
	if n := i - at; n < 8 || n > 10 || !StartsWord(s, at, false) && !strings.HasSuffix(s[:at], "bot") {
		return span{}, false
	}
	end := RunEnd(s, i+1, URL)
	return span{at, end, "telegram-token"}, end-i-1 >= 33
}

// isUUID reports whether s has the form 8-4-4-4-12 of hexadecimal digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !IsHex(s[i]|0x20) {
			return false
		}
	}
	return true
}
