package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
)

// This file reads JSON in place: one pass over the bytes, no reflection, no copies. It passes
// on members and elements as slices of the input and checks every byte on the way, so that
// encoding/json accepts what it accepts. The daemon reads every hook payload with it.

// MaxDepth is how deep values may nest; deeper ones are an error, as in encoding/json, so
// that a hostile payload can't exhaust the stack.
const MaxDepth = 10000

// Error says what is wrong and where.
type Error struct {
	Offset int
	What   string
}

func (e *Error) Error() string {
	return e.What + " at byte " + strconv.Itoa(e.Offset)
}

// Object calls member for each member of the object in doc, in order, with the key unescaped
// and the value as it is written. If member returns false it stops early, without an error
// and without looking further. Members before an error were passed to member; they were
// well-formed themselves.
func Object(doc []byte, member func(key, value []byte) bool) error {
	return Nested(doc, "", func(_ bool, key, value []byte) bool { return member(key, value) })
}

// Nested is [Object], but also takes apart the object in the member named inner, in the same
// pass: member is called without a value where it begins, and then for each of its members,
// with within. "" names no member.
func Nested(doc []byte, inner string, member func(within bool, key, value []byte) bool) error {
	i := space(doc, 0)
	if i >= len(doc) {
		return &Error{i, "nothing there"}
	}
	if doc[i] != '{' {
		return &Error{i, "not an object"}
	}
	i, more, err := members(doc, i, inner, false, member)
	if err != nil || !more {
		return err
	}
	return end(doc, i)
}

// members calls member for the members of the object that begins at i. It returns where that
// ends, and whether member wants more.
func members(doc []byte, i int, inner string, within bool, member func(within bool, key, value []byte) bool) (int, bool, error) {
	i = space(doc, i+1)
	if i < len(doc) && doc[i] == '}' {
		return i + 1, true, nil
	}
	for {
		if i >= len(doc) || doc[i] != '"' {
			return i, false, fault(doc, i, "expected a key")
		}
		keyEnd, escaped, err := str(doc, i)
		if err != nil {
			return i, false, err
		}
		key := doc[i+1 : keyEnd-1]
		if escaped {
			key = AppendUnescaped(make([]byte, 0, len(key)), key)
		}
		i = space(doc, keyEnd)
		if i >= len(doc) || doc[i] != ':' {
			return i, false, fault(doc, i, "expected a colon")
		}
		i = space(doc, i+1)
		more := true
		if inner != "" && !within && i < len(doc) && doc[i] == '{' && string(key) == inner {
			if more = member(false, key, nil); more {
				i, more, err = members(doc, i, inner, true, member)
			}
			if err != nil || !more {
				return i, more, err
			}
		} else {
			valueEnd, err := valueEnd(doc, i, 1)
			if err != nil {
				return i, false, err
			}
			if !member(within, key, doc[i:valueEnd:valueEnd]) {
				return i, false, nil
			}
			i = valueEnd
		}
		i = space(doc, i)
		if i >= len(doc) {
			return i, false, fault(doc, i, "")
		}
		switch doc[i] {
		case ',':
			i = space(doc, i+1)
		case '}':
			return i + 1, true, nil
		default:
			return i, false, fault(doc, i, "expected a comma or a closing brace")
		}
	}
}

// Array calls element for each element of the list that doc holds.
func Array(doc []byte, element func(value []byte) bool) error {
	i := space(doc, 0)
	if i >= len(doc) || doc[i] != '[' {
		return fault(doc, i, "not a list")
	}
	i = space(doc, i+1)
	if i < len(doc) && doc[i] == ']' {
		return end(doc, i+1)
	}
	for {
		valueEnd, err := valueEnd(doc, i, 1)
		if err != nil {
			return err
		}
		if !element(doc[i:valueEnd:valueEnd]) {
			return nil
		}
		i = space(doc, valueEnd)
		if i >= len(doc) {
			return fault(doc, i, "")
		}
		switch doc[i] {
		case ',':
			i = space(doc, i+1)
		case ']':
			return end(doc, i+1)
		default:
			return fault(doc, i, "expected a comma or a closing bracket")
		}
	}
}

// Valid reports whether doc is exactly one JSON value.
func Valid(doc []byte) bool {
	i, err := valueEnd(doc, space(doc, 0), 0)
	return err == nil && space(doc, i) == len(doc)
}

// Get descends into objects along keys; nil if there is nothing. If a key is repeated, the
// last one is used.
func Get(doc []byte, keys ...string) []byte {
	for _, want := range keys {
		var found []byte
		if Object(doc, func(key, value []byte) bool {
			if string(key) == want {
				found = value
			}
			return true
		}) != nil {
			return nil
		}
		doc = found
		if doc == nil {
			return nil
		}
	}
	return doc
}

// String returns the text of a JSON string; false for any other value.
func String(v []byte) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	body := v[1 : len(v)-1]
	if bytes.IndexByte(body, '\\') >= 0 {
		return string(AppendUnescaped(make([]byte, 0, len(body)), body)), true
	}
	return string(body), true
}

// IsObject reports whether a well-formed value is an object.
func IsObject(v []byte) bool { return first(v) == '{' }

// IsArray reports whether a well-formed value is a list.
func IsArray(v []byte) bool { return first(v) == '[' }

func first(v []byte) byte {
	if i := space(v, 0); i < len(v) {
		return v[i]
	}
	return 0
}

// fault distinguishes a document that was cut off from one that is wrong.
func fault(doc []byte, i int, what string) error {
	if i >= len(doc) {
		return &Error{len(doc), "cut off"}
	}
	return &Error{i, what}
}

// end makes sure that nothing follows.
func end(doc []byte, i int) error {
	if i = space(doc, i); i < len(doc) {
		return &Error{i, "something follows the value"}
	}
	return nil
}

// space passes over white space. Programs hardly ever write any: the first look is the only one.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		if c := b[i]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		i++
	}
	return i
}

// valueEnd passes over one value that starts at i.
func valueEnd(b []byte, i, depth int) (int, error) {
	if i >= len(b) {
		return i, fault(b, i, "")
	}
	switch c := b[i]; c {
	case '"':
		e, _, err := str(b, i)
		return e, err
	case '{', '[':
		return container(b, i, depth)
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	default:
		if c == '-' || c-'0' <= 9 {
			return number(b, i)
		}
		return i, fault(b, i, "unexpected character")
	}
}

func container(b []byte, i, depth int) (int, error) {
	if depth >= MaxDepth {
		return i, &Error{i, "nested too deeply"}
	}
	object := b[i] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == closing {
		return i + 1, nil
	}
	for {
		if object {
			if i >= len(b) || b[i] != '"' {
				return i, fault(b, i, "expected a key")
			}
			e, _, err := str(b, i)
			if err != nil {
				return i, err
			}
			i = space(b, e)
			if i >= len(b) || b[i] != ':' {
				return i, fault(b, i, "expected a colon")
			}
			i = space(b, i+1)
		}
		e, err := valueEnd(b, i, depth+1)
		if err != nil {
			return i, err
		}
		i = space(b, e)
		if i >= len(b) {
			return i, fault(b, i, "")
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case closing:
			return i + 1, nil
		default:
			return i, fault(b, i, "expected a comma or an end")
		}
	}
}

func literal(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) {
		if word[:len(b)-i] == string(b[i:]) {
			return i, fault(b, len(b), "")
		}
		return i, &Error{i, "unexpected word"}
	}
	if string(b[i:i+len(word)]) != word {
		return i, &Error{i, "unexpected word"}
	}
	return i + len(word), nil
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

func number(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	if i >= len(b) {
		return i, fault(b, i, "")
	}
	switch {
	case b[i] == '0':
		i++
	case b[i]-'1' < 9:
		i = digits(b, i)
	default:
		return i, &Error{i, "not a number"}
	}
	if i < len(b) && b[i] == '.' {
		n := digits(b, i+1)
		if n == i+1 {
			return i, fault(b, n, "not a number")
		}
		i = n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digits(b, i)
		if n == i {
			return i, fault(b, n, "not a number")
		}
		i = n
	}
	return i, nil
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// str skips the string that starts at the quote b[i]. Eight bytes are looked at together:
// payloads are mostly text, and this is the daemon's hottest loop.
func str(b []byte, i int) (next int, escaped bool, err error) {
	start := i
	i++
	for {
		for i+8 <= len(b) {
			if stop := stops(b[i:]); stop != 0 {
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return i, escaped, fault(b, i, "")
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			if i+1 >= len(b) {
				return i, escaped, fault(b, i+1, "")
			}
			switch b[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				for j := i + 2; j < i+6; j++ {
					if j >= len(b) {
						return i, escaped, fault(b, j, "")
					}
					if hexValue(b[j]) < 0 {
						return i, escaped, &Error{j, "bad \\u escape"}
					}
				}
				i += 6
			default:
				return i, escaped, &Error{i, "bad escape"}
			}
		case c < ' ':
			return start, escaped, &Error{i, "control character in a string"}
		default:
			i++
		}
	}
}

// stops sets the high bit of each of the first eight bytes that is a quote, a backslash or a
// control character. Only the lowest one is exact. Exchanged for its neighbour, the quote
// comes right after the control characters.
func stops(b []byte) uint64 {
	w := binary.LittleEndian.Uint64(b)
	low, slash := w^('"'-' ')*ones, w^'\\'*ones
	return ((low-('!'*ones))&^low | (slash-ones)&^slash) & high
}

func hexValue(c byte) rune {
	switch {
	case c-'0' <= 9:
		return rune(c - '0')
	case c-'a' <= 5:
		return rune(c-'a') + 10
	case c-'A' <= 5:
		return rune(c-'A') + 10
	}
	return -1
}
