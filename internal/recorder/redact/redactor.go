package redact

// A Redactor replaces secrets as Text and AppendJSON do, and remembers the long
// random values that it replaced: where such a value appears again, in whatever
// text, it is replaced too. What it keeps are keyed hashes in memory, at most
// maxSeen of them. It is safe for concurrent use.
type Redactor struct{ mem *memory }

// New makes a Redactor that has seen nothing yet.
func New() *Redactor { return &Redactor{mem: newMemory()} }

// Text returns s with its secrets replaced. A clean s is returned itself.
func (r *Redactor) Text(s string) string { return redactText(s, r.mem) }

// AppendJSON is the function of that name, with the memory of r.
func (r *Redactor) AppendJSON(dst, src []byte, opt Limits) ([]byte, Report) {
	return appendJSON(dst, src, opt, r.mem)
}

// finder returns the secrets of one text in order. It keeps what it found
// beyond the last answer, so that no part is searched twice.
type finder struct {
	s        string
	mem      *memory
	anchored found
	inWords  found
}

type found struct {
	state int // not searched yet, nothing more, or sp
	sp    span
}

const (
	unsearched = iota
	exhausted
	pending
)

func (f *finder) next(from int) (span, bool) {
	if f.anchored.state == unsearched || f.anchored.state == pending && f.anchored.sp.start < from {
		f.anchored = foundAs(nextAnchored(f.s, from))
	}
	if f.inWords.state == unsearched || f.inWords.state == pending && f.inWords.sp.start < from {
		f.inWords = foundAs(nextInWords(f.s, from, f.mem, true))
	}
	a, w := f.anchored, f.inWords
	switch {
	case a.state != pending && w.state != pending:
		return span{}, false
	case w.state != pending:
		return a.sp, true
	case a.state != pending:
		return w.sp, true
	case w.sp.start < a.sp.start || w.sp.start == a.sp.start && w.sp.end > a.sp.end:
		return w.sp, true
	}
	return a.sp, true
}

func foundAs(sp span, ok bool) found {
	if !ok {
		return found{state: exhausted}
	}
	return found{state: pending, sp: sp}
}
