package jsonx

import (
	"bytes"
	"encoding/json"
)

// This file writes JSON with <, > and & as they are: agents and users compare and read the
// text, and no browser does.

// AppendLine appends v as one line of JSON.
func AppendLine(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}

// Marshal is [json.Marshal] without those escapes.
func Marshal(v any) ([]byte, error) {
	line, err := AppendLine(nil, v)
	return bytes.TrimSuffix(line, []byte{'\n'}), err
}
