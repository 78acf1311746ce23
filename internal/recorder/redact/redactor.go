package redact

import "github.com/hookmux/hookmux/internal/recorder/redact/seen"

// A Redactor replaces secrets as Text and AppendJSON do, and remembers the long
// random values that it replaced: where such a value appears again, in whatever
// text, it is replaced too. What it keeps are keyed hashes in memory, at most
// seen.MaxValues of them. It is safe for concurrent use. A nil Redactor remembers
// nothing.
type Redactor struct{ mem *seen.Memory }

// New makes a Redactor that has seen nothing yet.
func New() *Redactor { return &Redactor{mem: seen.New()} }

// Text returns s with its secrets replaced. A clean s is returned itself.
func (r *Redactor) Text(s string) string { return redactText(s, r.memory()) }

// AppendJSON is the function of that name, with the memory of r.
func (r *Redactor) AppendJSON(dst, src []byte, opt Limits) ([]byte, Report) {
	return appendJSON(dst, src, opt, r.memory())
}

func (r *Redactor) memory() *seen.Memory {
	if r == nil {
		return nil
	}
	return r.mem
}

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
