package edit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Format is a kind of text that can be read and spliced. The three of them behave alike, so
// that code that edits files needn't know which one it is.
//
// A path is a list of keys; a step into a list is a decimal index that exists. Every change is
// parsed again and its meaning compared before it is returned; an error means that nothing
// should be written.
type Format interface {
	// Parse reads a text. The error is a [*SyntaxError] if it is in a certain line.
	Parse(src []byte) (Reader, error)
	// Set puts value at path. A missing key is added as the last one, with
	// what is missing above it; a present one has only its value replaced. A
	// value that is there already changes no byte.
	Set(src []byte, path []string, value any) ([]byte, error)
	// Remove takes the key or element at path out. Nothing there is no error.
	Remove(src []byte, path []string) ([]byte, error)
	// Append adds value as the last element of the list at path. A missing
	// list is added, with what is missing above it.
	Append(src []byte, path []string, value any) ([]byte, error)
	// RemoveAt takes element i of the list at path out.
	RemoveAt(src []byte, path []string, i int) ([]byte, error)
	// Prune removes path and then everything above it that became empty, except for the first keep
	// steps. Keep is what [Reader.Depth] returned before path was added: then the original bytes
	// are restored.
	Prune(src []byte, path []string, keep int) ([]byte, error)
}

// Reader is a parsed text.
type Reader interface {
	// Depth is how many steps of path are there.
	Depth(path ...string) int
	// Where is the place of the value at path; of a key's, that of the key.
	Where(path ...string) (Position, bool)
	// Keys are the names at path, in order.
	Keys(path ...string) []string
	// Len is the length of the list at path, -1 when there is no list.
	Len(path ...string) int
	// Raw is the value at path as plain JSON, nil when there is none.
	Raw(path ...string) json.RawMessage
	// Decode reads the value at path into a Go value.
	Decode(into any, path ...string) error
}

// The formats.
var (
	JSON Format = jsonFormat{}
	YAML Format = yamlFormat{}
	TOML Format = tomlFormat{}
)

// For returns the format of a name: json (with comments or without), yaml, toml.
func For(format string) (Format, error) {
	switch format {
	case "json", "jsonc":
		return JSON, nil
	case "yaml", "yml":
		return YAML, nil
	case "toml":
		return TOML, nil
	}
	return nil, fmt.Errorf("%q: no such format; use json, yaml or toml", format)
}

type jsonFormat struct{}

func (jsonFormat) Parse(src []byte) (Reader, error) {
	d, err := Parse(src)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (jsonFormat) Set(src []byte, path []string, value any) ([]byte, error) {
	return Set(src, path, value)
}

func (jsonFormat) Remove(src []byte, path []string) ([]byte, error) { return Remove(src, path) }

func (jsonFormat) Append(src []byte, path []string, value any) ([]byte, error) {
	return AppendToArray(src, path, value)
}

func (jsonFormat) RemoveAt(src []byte, path []string, i int) ([]byte, error) {
	return RemoveFromArray(src, path, i)
}

func (jsonFormat) Prune(src []byte, path []string, keep int) ([]byte, error) {
	return Prune(src, path, keep)
}

// spliceable is a parsed text of a line-based format. A change consumes it and returns the next
// one; if there is nothing to change, the same one.
type spliceable interface {
	Reader
	remove(path []string) (spliceable, error)
	look(path []string) (any, bool)
	bytes() []byte
}

// bytesOf returns the text of what a change gave.
func bytesOf(d spliceable, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return d.bytes(), nil
}

// removeAt is RemoveAt by means of remove.
func removeAt(d spliceable, path []string, i int) (spliceable, error) {
	if n := d.Len(path...); i < 0 || i >= n {
		return nil, fmt.Errorf("%s has no element %d", displayPath(path), i)
	}
	return d.remove(append(slices.Clone(path), strconv.Itoa(i)))
}

// prune is Prune by means of remove.
func prune(d spliceable, path []string, keep int) (spliceable, error) {
	d, err := d.remove(path)
	for n := len(path) - 1; err == nil && n > keep && n > 0; n-- {
		v, ok := d.look(path[:n])
		switch {
		case !ok: // went with what was below it
		case isEmpty(v):
			d, err = d.remove(path[:n])
		default:
			return d, nil
		}
	}
	return d, err
}

var (
	errNoPath    = errors.New("edit: no path given")
	errOtherWise = errors.New("edit: the change would say something other than meant; change it by hand")
)
