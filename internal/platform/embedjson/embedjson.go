// Package embedjson reads JSON that is part of the program, several times faster than
// encoding/json: every start of hookmux pays for it. Strings share the document's memory,
// names of members must be exact, and numbers aren't checked.
package embedjson

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Unmarshal stores a document in what into points to.
func Unmarshal(document string, into any) (err error) {
	r := reader{text: document, fields: map[reflect.Type]map[string][]int{}, own: map[reflect.Type]bool{}}
	defer func() {
		if wrong := recover(); wrong != nil {
			err = fmt.Errorf("at byte %d: %v", r.at, wrong)
		}
	}()
	r.value(reflect.ValueOf(into).Elem())
	if r.next(); r.at != len(r.text) {
		return fmt.Errorf("at byte %d: more than one value", r.at)
	}
	return nil
}

type reader struct {
	text   string
	at     int
	fields map[reflect.Type]map[string][]int // where the members of a struct go
	own    map[reflect.Type]bool             // whether values of a type have a form of their own
}

// next skips white space and returns the byte after it, 0 at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		if c := r.text[r.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// take reports whether c comes next, and skips it then.
func (r *reader) take(c byte) bool {
	if r.next() != c {
		return false
	}
	r.at++
	return true
}

func (r *reader) want(c byte) {
	if !r.take(c) {
		panic("no " + strconv.QuoteRune(rune(c)))
	}
}

// list reads what is between open and end.
func (r *reader) list(open, end byte, element func()) {
	r.want(open)
	if r.take(end) {
		return
	}
	for element(); !r.take(end); element() {
		r.want(',')
	}
}

// string reads a string.
func (r *reader) string() string {
	r.want('"')
	n := strings.IndexByte(r.text[r.at:], '"')
	if n < 0 {
		panic("a string doesn't end")
	}
	s := r.text[r.at : r.at+n]
	if strings.IndexByte(s, '\\') < 0 {
		r.at += n + 1
		return s
	}
	begin := r.at - 1
	for ; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	must(json.Unmarshal([]byte(r.text[begin:r.at]), &s))
	return s
}

// raw skips a value and returns its text.
func (r *reader) raw() string {
	c := r.next()
	begin := r.at
	switch c {
	case '{':
		r.list('{', '}', func() { r.string(); r.want(':'); r.raw() })
	case '[':
		r.list('[', ']', func() { r.raw() })
	case '"':
		r.string()
	default: // a number, true, false or null
		for r.at < len(r.text) && strings.IndexByte(",]} \n\t\r", r.text[r.at]) < 0 {
			r.at++
		}
	}
	return r.text[begin:r.at]
}

func (r *reader) value(v reflect.Value) {
	if r.next() == 'n' {
		r.raw()
		v.SetZero()
		return
	}
	if t := v.Type(); t.PkgPath() != "" && r.readsItself(t) {
		must(json.Unmarshal([]byte(r.raw()), v.Addr().Interface()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		fields := r.fieldsOf(v.Type())
		r.list('{', '}', func() {
			name := r.string()
			index, ok := fields[name]
			if !ok {
				panic(v.Type().String() + " has no " + name)
			}
			r.want(':')
			r.value(v.FieldByIndex(index))
		})
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.list('{', '}', func() {
			key.SetString(r.string())
			r.want(':')
			element.SetZero()
			r.value(element)
			v.SetMapIndex(key, element)
		})
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		r.list('[', ']', func() {
			n := v.Len()
			if n == v.Cap() {
				v.Grow(max(2, n)) // most lists are short
			}
			v.SetLen(n + 1)
			v.Index(n).SetZero()
			r.value(v.Index(n))
		})
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.value(v.Elem())
	case reflect.String:
		v.SetString(r.string())
	case reflect.Bool:
		v.SetBool(r.raw() == "true")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(r.raw(), 10, 64)
		must(err)
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(r.raw(), 10, 64)
		must(err)
		v.SetUint(n)
	default:
		must(json.Unmarshal([]byte(r.raw()), v.Addr().Interface()))
	}
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// readsItself reports whether values of a type have a form of their own.
func (r *reader) readsItself(t reflect.Type) bool {
	own, known := r.own[t]
	if !known {
		p := reflect.PointerTo(t)
		own = p.Implements(unmarshaler) || p.Implements(textUnmarshaler)
		r.own[t] = own
	}
	return own
}

// fieldsOf returns where the members of a struct go, including those of embedded structs.
func (r *reader) fieldsOf(t reflect.Type) map[string][]int {
	fields, ok := r.fields[t]
	if ok {
		return fields
	}
	fields = map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && !f.Anonymous && name != "-" {
			fields[name] = f.Index
		}
	}
	r.fields[t] = fields
	return fields
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
