package redact

import (
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
)

// noteSeen keeps a value that was replaced, if it is long and random enough to be
// known again.
func noteSeen(mem *Memory, value string) {
	if mem == nil {
		return
	}
	for value != "" && !IsAlnum(value[0]) {
		value = value[1:]
	}
	if worthKeeping(value) {
		mem.Note(value)
	}
}

// worthKeeping reports whether a value is distinctive enough that finding it again is no
// accident: long, random, one word, and neither an id, a path nor a version.
func worthKeeping(s string) bool {
	if len(s) < MinLength || len(s) > maxSeen || isUUID(s) || RunEnd(s, 0, Dark) != len(s) {
		return false
	}
	if redactmarks.IsWhole(s) || isHarmless(s) || HasPathForm(s) || HasVersionForm(s) {
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
		case IsDigit(c):
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
