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
