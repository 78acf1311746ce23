package policy

import (
	"bytes"
	"encoding/json"
)

// Canonical is a JSON value in one spelling: keys sorted, no blanks, numbers as
// they are written. What is no JSON stays as it is.
func Canonical(value []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
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
