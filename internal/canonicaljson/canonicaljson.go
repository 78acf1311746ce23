// Package canonicaljson gives a JSON value one spelling, so that values can be
// compared and hashed by their text.
package canonicaljson

import (
	"bytes"
	"encoding/json"
)

// Of is a JSON value with its keys sorted, without blanks, numbers as they are
// written. What is no JSON stays as it is.
func Of(value []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber() // large numbers that differ must not become the same
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return value
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return value
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}
