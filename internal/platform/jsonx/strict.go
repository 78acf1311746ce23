package jsonx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Strict reads one JSON document into a value. What another reader could understand
// differently is an error: a member that isn't known, that's there twice or in another case,
// and anything after the document.
func Strict(doc []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if err := check(dec, reflect.TypeOf(into)); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return json.Unmarshal(doc, into)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// check reads a value and compares the names of its members with those of a type; nil
// means a type that may have any.
func check(dec *json.Decoder, of reflect.Type) error {
	for of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of != nil && reflect.PointerTo(of).Implements(unmarshaler) {
		of = nil
	}
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		known := members(of)
		seen := map[string]bool{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			name := token.(string) // nothing else names a member
			inner, ok := known[name]
			switch {
			case seen[name]:
				return fmt.Errorf("%q is there twice", name)
			case known != nil && !ok:
				return fmt.Errorf("%q isn't known", name)
			case known == nil && of != nil && of.Kind() == reflect.Map:
				inner = of.Elem()
			}
			seen[name] = true
			if err := check(dec, inner); err != nil {
				return err
			}
		}
	case json.Delim('['):
		var inner reflect.Type
		if of != nil && (of.Kind() == reflect.Slice || of.Kind() == reflect.Array) {
			inner = of.Elem()
		}
		for dec.More() {
			if err := check(dec, inner); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = dec.Token() // its end
	return err
}

// members returns the types of a struct's members by their names in JSON; nil for another type.
func members(of reflect.Type) map[string]reflect.Type {
	if of == nil || of.Kind() != reflect.Struct {
		return nil
	}
	known := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.IsExported() && !field.Anonymous && name != "-" {
			if name == "" {
				name = field.Name
			}
			known[name] = field.Type
		}
	}
	return known
}
