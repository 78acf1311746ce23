package redact

import (
	"strings"
)

// wordShape is a token that begins with prefix at the beginning of a word.
type wordShape struct {
	prefix string
	kind   string
	set    uint8
	min    int  // bytes after the prefix
	exact  bool // min is the whole length
	loose  bool // may follow a dash or underscore
	dense  bool // needs an unbroken run that looks random
	check  func(s string, at int) (span, bool)
}

func matchWordShape(list []wordShape, s string, at int) (span, bool) {
	for k := range list {
		sh := &list[k]
		if !strings.HasPrefix(s[at:], sh.prefix) || !StartsWord(s, at, !sh.loose) {
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
		end := RunEnd(s, body, sh.set)
		if end-body < sh.min || sh.exact && (end-body != sh.min || !EndsWord(s, end)) ||
			sh.dense && !IsDense(s[body:end]) {
			continue
		}
		if !sh.exact {
			end = RunEnd(s, end, URL)
		}
		return span{at, end, sh.kind}, true
	}
	return span{}, false
}
