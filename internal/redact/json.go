package redact

import (
	"bytes"
	"math"
)

// The limits of the journal.
const (
	DefaultString = 16 << 10
	DefaultOutput = 4 << 10
	// minLimit leaves room for the note on the cut.
	minLimit = 64
)

// DefaultLimits returns the journal's limits, with the names agents use for a
// tool's output.
func DefaultLimits() Limits {
	return Limits{String: DefaultString, Output: DefaultOutput,
		OutputKeys: Keys("tool_response", "tool_output", "tool_result", "toolResponse", "toolOutput", "toolResult",
			"output", "result", "response", "result_json", "stdout", "stderr")}
}

// Keys returns a set of key names.
func Keys(names ...string) map[string]struct{} {
	set := make(map[string]struct{}, len(names))
	for _, n := range names {
		set[n] = struct{}{}
	}
	return set
}

func limitOr(n, standard int) int {
	switch {
	case n == 0:
		return standard
	case n < 0:
		return math.MaxInt / 2 // with room to add
	}
	return max(n, minLimit)
}

// maxDepth is where encoding/json stops too; deeper input is treated as invalid.
const maxDepth = 10000

// AppendJSON appends one JSON value to dst: blanks outside strings dropped,
// secrets replaced, over-long strings cut, everything else byte for byte. What
// is appended is always valid JSON and, for valid input, has the same structure.
//
// A string, or an array of strings, under a secret's name is replaced whole;
// numbers, booleans and objects under such a name stay. Input that is not valid
// JSON is appended as one JSON string, treated as text. A byte order mark in
// front is dropped; broken UTF-8 becomes U+FFFD.
func AppendJSON(dst, src []byte, opt Limits) ([]byte, Report) {
	return appendJSON(dst, src, opt, nil, nil)
}

func appendJSON(dst, src []byte, opt Limits, mem *Memory, clean *Cache) ([]byte, Report) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	w := walkers.Get().(*walker)
	w.src, w.dst, w.base, w.pos, w.rep = viewText(src), dst, 0, 0, Report{}
	w.limit = limitOr(opt.String, DefaultString)
	w.outLimit = limitOr(opt.Output, DefaultOutput)
	w.outKeys = opt.OutputKeys
	w.mem, w.clean = mem, clean
	w.dotenv = namesDotenv(w.src)
	start := len(dst)

	w.dropSpace()
	ok := w.readValue(0, "")
	if ok {
		w.dropSpace()
		ok = w.pos == len(w.src)
	}
	if ok {
		w.copyPending(w.pos)
	} else {
		w.dst, w.rep = w.dst[:start], Report{}
		w.limit = limitOr(opt.String, DefaultString)
		w.appendText(w.src, w.src, false)
	}
	dst, rep := w.dst, w.rep
	w.src, w.dst, w.outKeys, w.mem, w.clean = "", nil, nil, nil, nil
	// A rare giant must not stay in the pool.
	if cap(w.decoded) > 1<<20 {
		w.decoded = nil
	}
	if cap(w.rebuilt)+cap(w.spare) > 1<<20 {
		w.rebuilt, w.spare = nil, nil
	}
	walkers.Put(w)
	return dst, rep
}

// dropSpace drops blanks.
func (w *walker) dropSpace() {
	if w.pos >= len(w.src) || w.src[w.pos] > ' ' {
		return
	}
	from := w.pos
	for w.pos < len(w.src) && IsSpace(w.src[w.pos]) {
		w.pos++
	}
	if w.pos > from {
		w.copyPending(from)
		w.base = w.pos
	}
}

// readValue reads one value. secret is the kind of secret that the value's name says it is. It
// returns false if the input isn't JSON.
func (w *walker) readValue(depth int, secret string) bool {
	if w.pos >= len(w.src) {
		return false
	}
	switch w.src[w.pos] {
	case '"':
		return w.readString(secret)
	case '{':
		return depth < maxDepth && w.readObject(depth+1)
	case '[':
		return depth < maxDepth && w.readArray(depth+1, secret)
	case 't':
		return w.readWord("true")
	case 'f':
		return w.readWord("false")
	case 'n':
		return w.readWord("null")
	}
	return w.readNumber()
}

func (w *walker) readObject(depth int) bool {
	w.pos++
	w.dropSpace()
	if w.skipByte('}') {
		return true
	}
	outer := w.limit
	named := "" // the kind of secret that a member "name" of this object names
	for {
		if w.pos >= len(w.src) || w.src[w.pos] != '"' || !w.readString("") {
			return false
		}
		name := w.src[w.lastString.start:w.lastString.end]
		if w.lastEscape {
			name = viewText(w.decoded)
		}
		secret, weak := w.kindOfName(name)
		isName := isNameMember(name)
		if named != "" && len(name) == 5 && HasPrefixFold(name, "value") {
			secret, weak = named, false
		}
		if depth == 1 {
			if _, ok := w.outKeys[name]; ok {
				w.limit = w.outLimit
			}
		}
		w.dropSpace()
		if !w.skipByte(':') {
			return false
		}
		w.dropSpace()
		isString := w.pos < len(w.src) && w.src[w.pos] == '"'
		w.weak = weak
		if !w.readValue(depth, secret) {
			return false
		}
		w.weak = false
		if isName && isString {
			named = nameKind(w.src[w.lastString.start:w.lastString.end])
		}
		w.limit = outer
		w.dropSpace()
		if w.skipByte('}') {
			return true
		}
		if !w.skipByte(',') {
			return false
		}
		w.dropSpace()
	}
}

// kindOfName is nameKindOf, which is asked the same again and again.
func (w *walker) kindOfName(name string) (kind string, weak bool) {
	if w.clean == nil || len(name) > maxName || !tailIsSecret(name, 0, len(name)) {
		return nameKindOf(name)
	}
	key := w.clean.Key(name, askedName, 0)
	if w.clean.Has(key) {
		return "", false
	}
	if kind, weak = nameKindOf(name); kind == "" {
		w.clean.Add(key)
	}
	return kind, weak
}

// isNameMember reports whether a member names what the member "value" next to it holds:
// {"name": "DB_PASSWORD", "value": "…"}.
func isNameMember(name string) bool {
	return len(name) == 4 && HasPrefixFold(name, "name") || len(name) == 3 && HasPrefixFold(name, "key")
}

func (w *walker) readArray(depth int, secret string) bool {
	w.pos++
	w.dropSpace()
	if w.skipByte(']') {
		return true
	}
	kind := secret
	weak := w.weak
	var args argumentList
	for {
		w.weak = weak
		isString := w.pos < len(w.src) && w.src[w.pos] == '"'
		if !w.readValue(depth, kind) {
			return false
		}
		kind = secret
		if isString && kind == "" {
			kind = args.kindAfter(w.src[w.lastString.start:w.lastString.end])
		}
		w.dropSpace()
		if w.skipByte(']') {
			return true
		}
		if !w.skipByte(',') {
			return false
		}
		w.dropSpace()
	}
}

// skipByte steps over c when it is next.
func (w *walker) skipByte(c byte) bool {
	if w.pos < len(w.src) && w.src[w.pos] == c {
		w.pos++
		return true
	}
	return false
}

func (w *walker) readWord(s string) bool {
	if len(w.src)-w.pos < len(s) || w.src[w.pos:w.pos+len(s)] != s {
		return false
	}
	w.pos += len(s)
	return true
}

func (w *walker) readNumber() bool {
	w.skipByte('-')
	if !w.skipByte('0') && !w.readDigits() {
		return false
	}
	if w.skipByte('.') && !w.readDigits() {
		return false
	}
	if w.pos < len(w.src) && w.src[w.pos]|0x20 == 'e' {
		w.pos++
		if !w.skipByte('+') {
			w.skipByte('-')
		}
		return w.readDigits()
	}
	return true
}

func (w *walker) readDigits() bool {
	from := w.pos
	for w.pos < len(w.src) && IsDigit(w.src[w.pos]) {
		w.pos++
	}
	return w.pos > from
}
