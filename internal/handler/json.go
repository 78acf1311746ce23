package handler

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// member is one member of a JSON object; value keeps its bytes.
type member struct {
	key   string
	value json.RawMessage
}

type memberList []member

// readMembers reads an object in order; of a repeated key the last is used. Anything but an
// object has no members.
func readMembers(object []byte) memberList {
	var list memberList
	err := jsontext.Object(object, func(key, value []byte) bool {
		if i := list.indexOf(string(key)); i >= 0 {
			list[i].value = value
		} else {
			list = append(list, member{string(key), value})
		}
		return true
	})
	if err != nil {
		return nil
	}
	return list
}

func (l memberList) indexOf(key string) int {
	for i := range l {
		if l[i].key == key {
			return i
		}
	}
	return -1
}

func (l memberList) get(key string) json.RawMessage {
	if i := l.indexOf(key); i >= 0 {
		return l[i].value
	}
	return nil
}

func (l memberList) toJSON() json.RawMessage {
	var o writer
	o.openObject()
	for _, m := range l {
		o.rawMember(m.key, m.value)
	}
	o.closeObject()
	return o.b
}

// sameJSON reports whether two values mean the same, however they are spelled.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, ok := decodeValue(a)
	y, ok2 := decodeValue(b)
	return ok && ok2 && reflect.DeepEqual(x, y)
}

// decodeValue reads a value with numbers as they are written.
func decodeValue(value []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

// encodeValue writes a value without HTML escapes: agents compare text.
func encodeValue(v any) json.RawMessage {
	b, _ := jsonx.Marshal(v) // nil if it can't be written
	return b
}

// writer builds a JSON object.
type writer struct {
	b     []byte
	comma bool
}

func (o *writer) openObject()  { o.b = append(o.b, '{'); o.comma = false }
func (o *writer) closeObject() { o.b = append(o.b, '}'); o.comma = true }

func (o *writer) rawMember(key string, value []byte) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = event.AppendString(o.b, key)
	o.b = append(o.b, ':')
	o.b = append(o.b, value...)
}

func (o *writer) textMember(key, value string) { o.rawMember(key, event.AppendString(nil, value)) }

// someText writes a text unless it is empty.
func (o *writer) someText(key, value string) {
	if value != "" {
		o.textMember(key, value)
	}
}

func (o *writer) flagMember(key string, value bool) {
	if value {
		o.rawMember(key, []byte("true"))
	} else {
		o.rawMember(key, []byte("false"))
	}
}
