package redact

import (
	"sync"
)

// Limits bounds how long strings may be. Lengths count decoded bytes, and the result including its
// note on the cut stays within them.
type Limits struct {
	// String is the limit for every string. 0 means DefaultString, a negative
	// value none.
	String int
	// Output is the limit under the keys of OutputKeys. 0 means DefaultOutput,
	// a negative value none.
	Output int
	// OutputKeys are keys of the outermost object that hold a tool's output.
	OutputKeys map[string]struct{}
}

// Report is what was changed.
type Report struct {
	Redacted int // secrets replaced
	Cut      int // strings cut
}

// walker copies one JSON value. Everything before base is in dst already; what is between base
// and pos is still unchanged and is copied in one piece.
type walker struct {
	src        string
	dst        []byte
	base, pos  int
	limit      int // for strings at the current place
	outLimit   int
	outKeys    map[string]struct{}
	rep        Report
	mem        *Memory
	clean      *Cache
	dotenv     bool   // the value names a .env file, so it may contain its content
	weak       bool   // the current name is a weak one
	decoded    []byte // scratch: a string without escapes
	rebuilt    []byte // scratch: a string with replacements
	spare      []byte // scratch: the same, one pass earlier
	lastString span   // the string just read, raw and without quotes
	lastEscape bool   // it has escapes
}

var walkers = sync.Pool{New: func() any { return new(walker) }}

// What the cache of clean texts is asked about a text.
const (
	askedString uint8 = iota // is the raw string whole, and is there nothing in it?
	askedName                // is it no secret's name?
	askedText                // is there nothing in the text?
)

// copyPending copies what is pending up to to.
func (w *walker) copyPending(to int) {
	w.dst = append(w.dst, w.src[w.base:to]...)
	w.base = to
}
