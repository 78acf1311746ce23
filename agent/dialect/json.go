package dialect

import (
	"bytes"
	"encoding/json"

	"github.com/hookmux/hookmux/event"
)

// object builds a JSON object member by member; what is empty is left out.
// Answers must be minimal: an agent may throw away a whole answer over one
// member it does not know.
type object struct{ b []byte }

func (o *object) key(k string) {
	if len(o.b) == 0 {
		o.b = append(make([]byte, 0, 256), '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, k...)
	o.b = append(o.b, '"', ':')
}

// member writes a value under a key that an agent made up.
func (o *object) member(k string, v []byte) {
	quoted := event.AppendString(nil, k)
	o.key(string(quoted[1 : len(quoted)-1]))
	o.b = append(o.b, v...)
}

func (o *object) text(k, v string) {
	if v != "" {
		o.key(k)
		o.b = event.AppendString(o.b, v)
	}
}

// raw writes a JSON value unchanged, but on one line: values come from payloads, which may be
// pretty-printed, and some agents read lines.
func (o *object) raw(k string, v []byte) {
	if len(v) == 0 {
		return
	}
	o.key(k)
	if bytes.IndexByte(v, '\n') >= 0 {
		var line bytes.Buffer
		if json.Compact(&line, v) == nil {
			v = line.Bytes()
		}
	}
	o.b = append(o.b, v...)
}

// nest puts inner under k unless it is empty.
func (o *object) nest(k string, inner object) { o.raw(k, inner.bytes()) }

// bytes closes the object; nil when it has no members.
func (o *object) bytes() []byte {
	if len(o.b) == 0 {
		return nil
	}
	return append(o.b[:len(o.b):len(o.b)], '}')
}

// specific wraps members in the hookSpecificOutput that names its event.
func specific(native string, fill func(o *object)) object {
	var inner object
	fill(&inner)
	if len(inner.b) == 0 {
		return object{}
	}
	var o object
	o.text("hookEventName", native)
	o.b = append(append(o.b, ','), inner.b[1:]...)
	return o
}
