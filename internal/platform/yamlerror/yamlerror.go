// Package yamlerror explains in plain English what is wrong with a YAML file.
package yamlerror

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Problem says what is wrong, and where. Line is 0 if that isn't known.
type Problem struct {
	Line, Column int
	Text         string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// InLine returns err in plain English, with its line.
func InLine(err error) error { return errors.New(Explain(err).String()) }

// Explain reads an error of the YAML reader; any other error keeps its first line.
func Explain(err error) Problem {
	p := Problem{Text: termsafe.FirstLine(err.Error())}
	var located yaml.Error
	if !errors.As(err, &located) {
		return p
	}
	p.Text = located.GetMessage()
	value := ""
	if t := located.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column, value = t.Position.Line, t.Position.Column, t.Value
	}
	if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) {
		p.Text = explainType(wrong)
		return p
	}
	if wrong := (*yaml.UnexpectedNodeTypeError)(nil); errors.As(err, &wrong) {
		p.Text = fmt.Sprintf("this must be %s, not %s", nodeShape(wrong.Expected.YAMLName()), nodeShape(wrong.Actual.YAMLName()))
		return p
	}
	for _, one := range syntax {
		if strings.Contains(p.Text, one.message) {
			p.Text = one.words
			return p
		}
	}
	if strings.Contains(p.Text, "cannot start any token") {
		p.Text = fmt.Sprintf("a line can't begin with %q; quote the text", value)
		if strings.HasPrefix(value, "\t") || strings.Contains(located.GetMessage(), "\t") {
			p.Text = "there's a tab; YAML is indented with spaces"
		}
	}
	return p
}

// syntax rewords the reader's messages about the grammar of YAML.
var syntax = []struct{ message, words string }{
	{"']' not found", "the [ is never closed"},
	{"end token '}'", "the { is never closed"},
	{"',' or ']' must be", "the [ is never closed, or a comma is missing"},
	{"',' or '}' must be", "the { is never closed, or a comma is missing"},
	{"not allowed in this context", "this is indented wrongly, or belongs in quotes"},
	{"could not find end character of", "a quote is never closed"},
	{"map key-value delimiter", "a colon is missing"},
	{"non-map value is specified", "this must be KEY: VALUE"},
	{"unexpected key name", "this must be KEY: VALUE"},
}

// explainType says what a value must be.
func explainType(wrong *yaml.TypeError) string {
	must := shape(wrong.DstType)
	if wrong.StructFieldName == nil {
		return fmt.Sprintf("this must be %s, not %s", must, shape(wrong.SrcType))
	}
	name := *wrong.StructFieldName
	name = name[strings.LastIndexByte(name, '.')+1:]
	return fmt.Sprintf("%q must be %s, not %s", strings.ToLower(name[:1])+name[1:], must, shape(wrong.SrcType))
}

// nodeShape returns the usual name of a kind of YAML node.
func nodeShape(kind string) string {
	switch kind {
	case "sequence":
		return "a list"
	case "mapping", "mapping value":
		return "a block of keys"
	case "string", "literal":
		return "text"
	}
	return kind
}

// shape returns the usual name of a Go type.
func shape(t reflect.Type) string {
	switch {
	case t == nil:
		return "nothing"
	case t.Kind() == reflect.Pointer:
		return shape(t.Elem())
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a block of keys"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
