package jsonx

import (
	"bytes"
	"encoding/json"
)

// This file gives every JSON value a single spelling, so that values can be compared and
// hashed by their text.

// Canonical returns a JSON value with its keys sorted, without blanks, numbers as they are
// written. What isn't JSON stays as it is.
func Canonical(value []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber() // large numbers that differ must not become the same
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return value
	}
	out, err := Marshal(v)
	if err != nil {
		return value
	}
	return out
}
