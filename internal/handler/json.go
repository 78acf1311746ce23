package handler

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// member is one member of a JSON object; value keeps its bytes.
type member struct {
	key   string
	value json.RawMessage
}

type memberList []member

// members reads an object in order; of a repeated key the last counts. What
// is no object has none.
func members(object []byte) memberList {
	var list memberList
	err := jsonscan.Object(object, func(key, value []byte) bool {
		if i := list.index(string(key)); i >= 0 {
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

func (l memberList) index(key string) int {
	for i := range l {
		if l[i].key == key {
			return i
		}
	}
	return -1
}

func (l memberList) get(key string) json.RawMessage {
	if i := l.index(key); i >= 0 {
		return l[i].value
	}
	return nil
}

func (l memberList) bytes() json.RawMessage {
	var o writer
	o.open()
	for _, m := range l {
		o.raw(m.key, m.value)
	}
	o.close()
	return o.b
}

// sameJSON reports whether two values mean the same, however they are spelled.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, ok := decoded(a)
	y, ok2 := decoded(b)
	return ok && ok2 && reflect.DeepEqual(x, y)
}

// decoded reads a value with numbers as they are written.
func decoded(value []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

// encoded writes a value without HTML escapes: agents compare text.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// writer builds a JSON object.
type writer struct {
	b     []byte
	comma bool
}

func (o *writer) open()  { o.b = append(o.b, '{'); o.comma = false }
func (o *writer) close() { o.b = append(o.b, '}'); o.comma = true }

func (o *writer) raw(key string, value []byte) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = event.AppendString(o.b, key)
	o.b = append(o.b, ':')
	o.b = append(o.b, value...)
}

func (o *writer) text(key, value string) { o.raw(key, event.AppendString(nil, value)) }

// some writes a text unless it is empty.
func (o *writer) some(key, value string) {
	if value != "" {
		o.text(key, value)
	}
}

func (o *writer) flag(key string, value bool) {
	if value {
		o.raw(key, []byte("true"))
	} else {
		o.raw(key, []byte("false"))
	}
}
