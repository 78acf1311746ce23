package redact

import (
	"github.com/hookmux/hookmux/internal/recorder/redact/seen"
)

// finder returns the secrets of one text in order. It keeps what it found
// beyond the last answer, so that no part is searched twice.
type finder struct {
	s     string
	mem   *seen.Memory
	found [3]foundSpan
}

type foundSpan struct {
	state int
	sp    span
}

const (
	unsearched = iota
	exhausted
	pending
)

// next returns the first secret at or behind from.
func (f *finder) next(from int) (first span, ok bool) {
	for i := range f.found {
		one := &f.found[i]
		if one.state == unsearched || one.state == pending && one.sp.start < from {
			one.search(f, i, from)
		}
		if one.state != pending {
			continue
		}
		if !ok || one.sp.start < first.start || one.sp.start == first.start && one.sp.end > first.end {
			first, ok = one.sp, true
		}
	}
	return first, ok
}

func (one *foundSpan) search(f *finder, way, from int) {
	var ok bool
	switch way {
	case 0:
		one.sp, ok = nextAnchored(f.s, from)
	case 1:
		one.sp, ok = nextInWords(f.s, from, f.mem, true)
	case 2:
		one.sp, ok = nextPasswordWord(f.s, from)
	}
	one.state = exhausted
	if ok {
		one.state = pending
	}
}
