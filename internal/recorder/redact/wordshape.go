package redact

import (
	"strings"

	"github.com/hookmux/hookmux/internal/recorder/redact/chars"
)

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

func matchWordShape(list []wordShape, s string, at int) (span, bool) {
	for k := range list {
		sh := &list[k]
		if !strings.HasPrefix(s[at:], sh.prefix) || !chars.StartsWord(s, at, !sh.loose) {
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
		end := chars.RunEnd(s, body, sh.set)
		if end-body < sh.min || sh.exact && (end-body != sh.min || !chars.EndsWord(s, end)) ||
			sh.dense && !isDense(s[body:end]) {
			continue
		}
		if !sh.exact {
			end = chars.RunEnd(s, end, chars.URL)
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
		end := chars.RunEnd(body, i, chars.Alnum)
		if end-i >= 16 && isRandom(body[i:end]) {
			return true
		}
		i = end + 1
	}
	return false
}

func onlyHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if !chars.IsHex(s[i]|0x20) && s[i] != '-' {
			return false
		}
	}
	return true
}

func isRandom(s string) bool {
	const lower, upper, digit = 0, 1, 2
	digits, uppers, odd, last := 0, 0, 0, lower
	for i := 0; i < len(s); i++ {
		kind := lower
		switch c := s[i]; {
		case chars.IsDigit(c):
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
