package redact

// A Redactor replaces secrets as Text and AppendJSON do, and remembers the long
// random values that it replaced: where such a value appears again, in whatever
// text, it is replaced too. What it keeps are keyed hashes in memory, at most
// MaxValues of them. It is safe for concurrent use. A nil Redactor remembers
// nothing.
type Redactor struct {
	mem   *Memory
	clean *Cache // strings of JSON in which nothing was found
}

// New returns a Redactor that has seen nothing yet.
func New() *Redactor { return &Redactor{mem: newSeen(), clean: newCleanTexts()} }

// Text returns s with its secrets replaced. A clean s is returned itself.
func (r *Redactor) Text(s string) string {
	if r == nil || r.clean == nil || len(s) > maxCleanText {
		return redactText(s, r.memory())
	}
	key := r.clean.Key(s, askedText, r.mem.Noted())
	if r.clean.Has(key) {
		return s
	}
	out := redactText(s, r.mem)
	if out == s {
		r.clean.Add(key)
	}
	return out
}

// AppendJSON returns the function of that name, with the memory of r.
func (r *Redactor) AppendJSON(dst, src []byte, opt Limits) ([]byte, Report) {
	if r == nil {
		return appendJSON(dst, src, opt, nil, nil)
	}
	return appendJSON(dst, src, opt, r.mem, r.clean)
}

func (r *Redactor) memory() *Memory {
	if r == nil {
		return nil
	}
	return r.mem
}
