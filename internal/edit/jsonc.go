package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// Set puts value at path. A missing member is added as the last of its object, with the objects
// above it; of a present one only the value's bytes are replaced, or none if it is equal. An
// empty text is treated as an empty object. A step into an array is an index that exists.
func Set(src []byte, path []string, value any) ([]byte, error) {
	if len(path) == 0 {
		return nil, errors.New("edit: no path given")
	}
	raw, err := encode(value)
	if err != nil {
		return nil, err
	}
	e, err := beginEdition(src)
	if err != nil {
		return nil, err
	}
	v, depth := e.doc.findValue(path)
	if depth == len(path) {
		if is, err := decodePlain(appendPlain(nil, v)); err == nil && hasValue(normalizeValue(is), nil, raw) {
			return src, nil
		}
		e.replace(v, path, raw)
	} else {
		if _, ok := v.Value.(*hujson.Object); !ok {
			return nil, fmt.Errorf("%s is not an object; change it by hand", displayPath(path[:depth]))
		}
		for i := len(path) - 1; i > depth; i-- {
			raw = member(path[i], raw)
		}
		e.addMember(v, path[:depth], path[depth], raw)
	}
	return e.checkedText(func(root any) (any, error) { return setIn(root, path, value) })
}

// Remove removes the member or element at path. It is no error if there is none.
func Remove(src []byte, path []string) ([]byte, error) {
	if len(path) == 0 {
		return nil, errors.New("edit: no path given")
	}
	for {
		e, err := beginEdition(src)
		if err != nil {
			return nil, err
		}
		parent, depth := e.doc.findValue(path[:len(path)-1])
		if depth < len(path)-1 {
			return src, nil
		}
		last := path[len(path)-1]
		c := e.container(parent)
		at := c.findKey(last)
		if at < 0 {
			return src, nil
		}
		again := c.countKey(last) > 1 // a key written twice goes twice
		e.removeItem(c, at)
		out, err := e.checkedText(func(root any) (any, error) {
			if again {
				return nil, errSkipCheck
			}
			return removeIn(root, path)
		})
		if err != nil || !again {
			return out, err
		}
		src = out
	}
}

// Prune removes path, and then every object or array above it that became empty, down to but not
// including the first keep steps of path. If adding path created parents, they are removed with
// it.
//
// What is pruned was put in by a program; comments never were. So all of them stay, including
// those inside what is removed, and something that holds one isn't empty. Of a key that is
// written twice only the one in effect is removed.
func Prune(src []byte, path []string, keep int) ([]byte, error) {
	if len(path) == 0 {
		return nil, errNoPath
	}
	out, err := pruneOne(src, path)
	for n := len(path) - 1; err == nil && n > keep && n > 0; n-- {
		d, perr := Parse(out)
		if perr != nil {
			return nil, perr
		}
		v, depth := d.findValue(path[:n])
		if depth < n {
			continue
		}
		switch v.Value.(type) {
		case *hujson.Object, *hujson.Array:
			if !blank(string(d.body[v.StartOffset+1 : v.EndOffset-1])) {
				return out, nil
			}
		}
		out, err = pruneOne(out, path[:n])
	}
	return out, err
}

// pruneOne removes what path leads to and leaves the comments in it.
func pruneOne(src []byte, path []string) ([]byte, error) {
	e, err := beginEdition(src)
	if err != nil {
		return nil, err
	}
	parent, depth := e.doc.findValue(path[:len(path)-1])
	last := path[len(path)-1]
	c := e.container(parent)
	at := c.findKey(last)
	if depth < len(path)-1 || at < 0 {
		return src, nil
	}
	if notes := commentsIn(e.text(c.items[at].start, c.items[at].end)); len(notes) > 0 {
		e.leaveComments(c, at, notes, e.style.nl)
	} else {
		e.removeItem(c, at)
	}
	return e.checkedText(func(root any) (any, error) {
		if c.countKey(last) > 1 { // the one before is in effect now
			return nil, errSkipCheck
		}
		return removeIn(root, path)
	})
}

// AppendToArray adds value as the last element of the array at path. A missing
// array is added, with the objects above it.
func AppendToArray(src []byte, path []string, value any) ([]byte, error) {
	raw, err := encode(value)
	if err != nil {
		return nil, err
	}
	e, err := beginEdition(src)
	if err != nil {
		return nil, err
	}
	v, depth := e.doc.findValue(path)
	if depth < len(path) {
		return Set(src, path, []json.RawMessage{raw})
	}
	if _, ok := v.Value.(*hujson.Array); !ok {
		return nil, fmt.Errorf("%s is not a list; change it by hand", displayPath(path))
	}
	e.addMember(v, path, "", raw)
	return e.checkedText(func(root any) (any, error) {
		list, _ := getIn(root, path).([]any)
		plain, err := plainOf(value)
		if err != nil {
			return nil, err
		}
		return setIn(root, path, append(slices.Clone(list), plain))
	})
}

// RemoveFromArray removes one element.
func RemoveFromArray(src []byte, path []string, i int) ([]byte, error) {
	at, err := element(src, path, i)
	if err != nil {
		return nil, err
	}
	return Remove(src, at)
}

func element(src []byte, path []string, i int) ([]string, error) {
	d, err := Parse(src)
	if err != nil {
		return nil, err
	}
	if n := d.Len(path...); i < 0 || i >= n {
		return nil, fmt.Errorf("%s has no element %d", displayPath(path), i)
	}
	return append(slices.Clone(path), strconv.Itoa(i)), nil
}

func displayPath(path []string) string {
	if len(path) == 0 {
		return "the text"
	}
	return strings.Join(path, ".")
}

// errSkipCheck leaves the comparison of meaning out for a step that is only
// half of a change; the text must still parse.
var errSkipCheck = errors.New("skip")

// edition is one change in the making.
type edition struct {
	cutter
	doc   *Document
	style style
}

func beginEdition(src []byte) (*edition, error) {
	doc, err := Parse(src)
	if err != nil {
		// A text without any value, empty or with only comments, is an object into which nothing has
		// been written yet.
		text := bytes.TrimSuffix(slices.Clone(src), []byte("\n"))
		if blank(string(bytes.TrimPrefix(text, byteOrderMark))) {
			text = append(text[:len(src)-len(bytes.TrimPrefix(src, byteOrderMark))], "{}\n"...)
		} else {
			text = append(text, "\n{}\n"...)
		}
		var again error
		if doc, again = Parse(text); again != nil {
			return nil, err
		}
	}
	return &edition{cutter: cutter{body: doc.body}, doc: doc, style: styleOf(doc)}, nil
}

// checkedText splices, parses again and compares the new meaning of the text with what meant makes
// of the old one.
func (e *edition) checkedText(meant func(root any) (any, error)) ([]byte, error) {
	out := e.spliced(e.doc.src, func(offset int) int { return e.doc.bom + offset }, "\n")

	after, err := Parse(out)
	if err != nil {
		return nil, fmt.Errorf("edit: the change would break the text (%w); change it by hand", err)
	}
	was, err := e.doc.plain()
	if err != nil {
		return nil, err
	}
	want, err := meant(was)
	if errors.Is(err, errSkipCheck) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	is, err := after.plain()
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(is, want) {
		return nil, errors.New("edit: the change would say something other than meant; change it by hand")
	}
	return out, nil
}

// plain returns the whole text as Go values, numbers as they are written.
func (d *Document) plain() (any, error) { return decodePlain(d.Raw()) }

func decodePlain(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func plainOf(value any) (any, error) {
	raw, err := encode(value)
	if err != nil {
		return nil, err
	}
	return decodePlain(raw)
}

func encode(value any) (json.RawMessage, error) {
	b, err := jsonx.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	return b, nil
}

func member(key string, value json.RawMessage) json.RawMessage {
	name, _ := encode(key)
	return slices.Concat([]byte("{"), name, []byte(":"), value, []byte("}"))
}

func getIn(root any, path []string) any {
	for _, step := range path {
		switch c := root.(type) {
		case map[string]any:
			root = c[step]
		case []any:
			i, ok := index(step, len(c))
			if !ok {
				return nil
			}
			root = c[i]
		default:
			return nil
		}
	}
	return root
}

func setIn(root any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return plainOf(value)
	}
	switch c := root.(type) {
	case map[string]any:
		next := c[path[0]]
		if next == nil && len(path) > 1 { // missing, or nothing but its name written
			next = map[string]any{}
		}
		inner, err := setIn(next, path[1:], value)
		c[path[0]] = inner
		return c, err
	case []any:
		i, ok := index(path[0], len(c))
		if !ok {
			return nil, fmt.Errorf("%s is not an element", path[0])
		}
		if c[i] == nil && len(path) > 1 {
			c[i] = map[string]any{}
		}
		inner, err := setIn(c[i], path[1:], value)
		c[i] = inner
		return c, err
	}
	return nil, fmt.Errorf("%s: neither object nor list above it", path[0])
}

func removeIn(root any, path []string) (any, error) {
	if len(path) == 1 {
		switch c := root.(type) {
		case map[string]any:
			delete(c, path[0])
			return c, nil
		case []any:
			i, _ := index(path[0], len(c))
			return slices.Delete(c, i, i+1), nil
		}
		return root, nil
	}
	switch c := root.(type) {
	case map[string]any:
		inner, err := removeIn(c[path[0]], path[1:])
		c[path[0]] = inner
		return c, err
	case []any:
		i, _ := index(path[0], len(c))
		inner, err := removeIn(c[i], path[1:])
		c[i] = inner
		return c, err
	}
	return root, nil
}
