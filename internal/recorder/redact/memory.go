package redact

import (
	"github.com/hookmux/hookmux/internal/recorder/redact/chars"
	"github.com/hookmux/hookmux/internal/recorder/redact/seen"
)

// noteSeen keeps a value that was replaced, if it is long and random enough to be
// known again.
func noteSeen(mem *seen.Memory, value string) {
	if mem == nil {
		return
	}
	for value != "" && !chars.IsAlnum(value[0]) {
		value = value[1:]
	}
	if worthKeeping(value) {
		mem.Note(value)
	}
}

// worthKeeping tells values that are only found again when they are meant:
// long, random, one word, and neither an id, a path nor a version.
func worthKeeping(s string) bool {
	if len(s) < seen.MinLength || len(s) > seen.MaxLength || isUUID(s) || chars.RunEnd(s, 0, chars.Dark) != len(s) {
		return false
	}
	if isMark(s) || isHarmless(s) || hasPathForm(s) || hasVersionForm(s) {
		return false
	}
	var have [128]bool
	distinct, digits, upper, lower, other := 0, 0, 0, 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !have[c] {
			have[c] = true
			distinct++
		}
		switch {
		case chars.IsDigit(c):
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		default:
			other++
		}
	}
	letters := upper + lower
	if digits == 0 && (upper < 2 || lower < 2 || other == 0) || letters == 0 {
		return false
	}
	return distinct >= 8
}

// hasPathForm tells a path or a host name: small words between slashes or dots.
func hasPathForm(s string) bool {
	slashes, dots := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '/':
			slashes++
		case '.':
			dots++
		}
	}
	return slashes >= 2 && !chars.IsDense(s) || dots >= 2 && !chars.IsDense(s)
}

// hasVersionForm tells 1.22.3-alpine and v0.0.0-20240101000000-abcdef.
func hasVersionForm(s string) bool {
	if s[0] == 'v' {
		s = s[1:]
	}
	i := 0
	for i < len(s) && chars.IsDigit(s[i]) {
		i++
	}
	return i > 0 && i+1 < len(s) && s[i] == '.' && chars.IsDigit(s[i+1])
}
