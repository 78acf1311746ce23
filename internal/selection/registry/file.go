package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// Problem is something wrong in a file of hooks.
type Problem = userfile.Problem

// version is the only form of the file so far.
const version = 1

// Known distinguishes names from typing errors; nil functions accept every name.
type Known struct {
	Agent func(name string) bool
	Type  func(agent, native string) bool
}

// Parsed is a registration with its place in the file.
type Parsed struct {
	hook.Registration
	Line int
}

// Parse reads a file of hooks. The registrations are those that can be used;
// problems name what cannot, by line. Nothing is returned for a text that is
// no file of hooks at all.
func Parse(data []byte, known Known) ([]Parsed, []Problem) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	doc, err := edit.Parse(data)
	var at *edit.SyntaxError
	if errors.As(err, &at) {
		return nil, []Problem{{Line: at.Line, Col: at.Col, Text: at.Msg}}
	}
	if err != nil {
		return nil, []Problem{{Text: err.Error()}}
	}
	var problems []Problem
	bad := func(path []string, format string, args ...any) {
		pos, _ := doc.Where(path...)
		problems = append(problems, Problem{Line: pos.Line, Col: pos.Col, Text: fmt.Sprintf(format, args...)})
	}
	if doc.Raw()[0] != '{' {
		bad(nil, `must be an object such as {"version": 1, "hooks": []}`)
		return nil, problems
	}
	for _, key := range doc.Keys() {
		if !slices.Contains([]string{"version", "hooks", "$schema"}, key) {
			bad([]string{key}, "unknown key %q; only version and hooks belong here", key)
		}
	}
	if raw := doc.Raw("version"); raw != nil && string(raw) != strconv.Itoa(version) {
		bad([]string{"version"}, "version %s is not known; it should be %d, or this hookmux is too old for the file",
			raw, version)
		return nil, problems
	}
	if doc.Raw("hooks") != nil && doc.Len("hooks") < 0 {
		bad([]string{"hooks"}, "hooks must be a list")
		return nil, problems
	}

	var list []Parsed
	first := map[string]int{}
	for i := range max(doc.Len("hooks"), 0) {
		path := []string{"hooks", strconv.Itoa(i)}
		pos, _ := doc.Where(path...)
		reg, err := parseOne(doc, path)
		if err == nil {
			err = reg.Check(known.Agent, known.Type)
		}
		name := reg.ID
		if name == "" {
			name = "hook " + strconv.Itoa(i+1)
		}
		if err != nil {
			bad(path, "%s: %v", name, err)
			continue
		}
		if line, twice := first[reg.ID]; twice {
			bad(path, "%s: this id is taken on line %d; give one of them another id", name, line)
			continue
		}
		first[reg.ID] = pos.Line
		list = append(list, Parsed{reg, pos.Line})
	}
	return list, problems
}

func parseOne(doc *edit.Document, path []string) (hook.Registration, error) {
	var reg hook.Registration
	raw := doc.Raw(path...)
	if raw[0] != '{' {
		return reg, errors.New("must be an object")
	}
	err := knownKeys(doc.Keys(path...), registrationFields())
	if err == nil {
		err = knownKeys(doc.Keys(append(path, "match")...), fieldsOf(reflect.TypeFor[hook.Match]()))
		if err != nil {
			err = fmt.Errorf("match: %w", err)
		}
	}
	decoded := json.Unmarshal(raw, &reg)
	if err == nil && decoded != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(decoded, &wrong) {
			err = fmt.Errorf("%s must not be a %s", wrong.Field, wrong.Value)
		} else {
			err = decoded
		}
	}
	return reg, err
}

func knownKeys(keys, fields []string) error {
	for i, key := range keys {
		if !slices.Contains(fields, key) {
			for _, field := range fields {
				if strings.EqualFold(field, key) {
					return fmt.Errorf("unknown key %q; write %q", key, field)
				}
			}
			return fmt.Errorf("unknown key %q; the keys are %s", key, strings.Join(fields, ", "))
		}
		if slices.Contains(keys[:i], key) {
			return fmt.Errorf("%q is there twice; remove one", key)
		}
	}
	return nil
}

func registrationFields() []string { return fieldsOf(reflect.TypeFor[hook.Registration]()) }

// fieldsOf returns the names of a struct's fields in JSON.
func fieldsOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
