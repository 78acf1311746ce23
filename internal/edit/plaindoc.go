package edit

import (
	"encoding/json"
	"fmt"
)

// plainDoc holds a text's content as plain Go values.
type plainDoc struct{ plain any }

func (d *plainDoc) look(path []string) (any, bool) { return lookIn(d.plain, path) }

// Len returns the number of elements of the list at path, -1 when there is no list.
func (d *plainDoc) Len(path ...string) int {
	v, _ := d.look(path)
	if list, ok := v.([]any); ok {
		return len(list)
	}
	return -1
}

// Raw returns the value at path as JSON, nil when there is none.
func (d *plainDoc) Raw(path ...string) json.RawMessage {
	v, ok := d.look(path)
	if !ok {
		return nil
	}
	raw, err := encode(v)
	if err != nil {
		return nil
	}
	return raw
}

// Decode reads the value at path into a Go value.
func (d *plainDoc) Decode(into any, path ...string) error {
	raw := d.Raw(path...)
	if raw == nil {
		return fmt.Errorf("%s: not there", displayPath(path))
	}
	return json.Unmarshal(raw, into)
}
