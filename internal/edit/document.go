// Package edit changes a few bytes in text files that belong to someone else.
//
// A change is spliced into the text and never re-serialised: comments, key order, indentation,
// line ends, a byte order mark and a missing final newline stay as they are. After every splice
// the text is parsed again and its meaning compared with what was meant; a text that doesn't
// match is rejected, never written. Adding something and removing it again restores the same
// bytes.
//
// The package knows the formats and the file system, and nothing about who the files belong to.
// [For] returns the same operations for JSON, YAML and TOML; functions without a format in
// their name are for JSON with comments and trailing commas.
package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxDepth bounds nesting. The parser recurses, and a hostile file must not be
// able to exhaust the stack.
const maxDepth = 500

var byteOrderMark = []byte("\xef\xbb\xbf")

// Position is a place in a text, counted from one; columns count bytes.
type Position struct{ Line, Col int }

// SyntaxError says where a text stops being valid.
type SyntaxError struct {
	Position
	Msg string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

// Document is a parsed text. It is not for use by several goroutines at once.
type Document struct {
	src  []byte // as given
	bom  int    // length of the byte order mark
	body []byte // after the mark, with a newline added for the parser
	root hujson.Value

	newlines []int // offsets, found when first asked for a position
}

// Parse reads JSON with comments and trailing commas. The error is a
// [*SyntaxError].
func Parse(src []byte) (*Document, error) {
	d := &Document{src: src}
	if bytes.HasPrefix(src, byteOrderMark) {
		d.bom = len(byteOrderMark)
	}
	// The parser wants a line comment to end in a newline; a file's last line
	// need not have one.
	d.body = append(append(make([]byte, 0, len(src)+1), src[d.bom:]...), '\n')
	if at := tooDeep(d.body); at >= 0 {
		return nil, depthError(d.position(at))
	}
	root, err := hujson.Parse(d.body)
	if err != nil {
		e := syntaxError(err)
		d.explain(e)
		if end := d.position(len(d.body) - 1); e.Line > end.Line { // the newline added above
			e.Position = end
		}
		return nil, e
	}
	d.root = root
	return d, nil
}

// syntaxError extracts the position from the parser's message.
func syntaxError(err error) *SyntaxError {
	var line, col int
	text := err.Error()
	if n, _ := fmt.Sscanf(text, "hujson: line %d, column %d:", &line, &col); n == 2 {
		if _, rest, ok := strings.Cut(text, fmt.Sprintf("column %d: ", col)); ok {
			text = rest
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		text = "unexpected end of file"
	}
	return &SyntaxError{Position{max(line, 1), max(col, 1)}, text}
}

// explain replaces the parser's message by what is missing, and where.
func (d *Document) explain(e *SyntaxError) {
	what, where, ok := strings.Cut(strings.TrimPrefix(e.Msg, "invalid character "), "' ")
	what += "'"
	switch {
	case strings.HasPrefix(e.Msg, "invalid literal: "):
		literal := strings.TrimPrefix(e.Msg, "invalid literal: ")
		rest := bytes.TrimPrefix(d.body[len(d.before(e.Position)):], []byte(literal))
		if e.Msg = literal + " isn't a value; a text needs double quotes"; bytes.HasPrefix(bytes.TrimSpace(rest), []byte(":")) {
			e.Msg = "a name needs double quotes"
		}
	case !ok:
	case strings.HasPrefix(where, "after object value"), strings.HasPrefix(where, "after array value"):
		e.Msg, e.Position = "a comma is missing", d.endBefore(e.Position)
	case where == "after object name":
		e.Msg, e.Position = "a colon is missing", d.endBefore(e.Position)
	case where == "at start of object name":
		e.Msg = "a name needs double quotes"
	case where == "at start of value" && (what == "'}'" || what == "']'" || what == "','"):
		e.Msg, e.Position = "a value is missing", d.endBefore(e.Position)
	case where == "at start of value":
		e.Msg = "a text needs double quotes"
	case where == "after top-level value":
		e.Msg = what + " is behind the end"
	}
}

// endBefore returns the position after the last character before at that isn't white space.
func (d *Document) endBefore(at Position) Position {
	return d.position(len(bytes.TrimRight(d.before(at), " \t\r\n")))
}

// before returns the text before a place.
func (d *Document) before(at Position) []byte {
	lines := bytes.SplitAfter(d.body, []byte("\n"))
	n := at.Col - 1
	for _, line := range lines[:min(at.Line-1, len(lines))] {
		n += len(line)
	}
	return d.body[:min(n, len(d.body))]
}

func depthError(at Position) error {
	return &SyntaxError{at, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
}

// tooDeep returns the offset at which nesting passes maxDepth, or -1.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			var end string
			switch {
			case bytes.HasPrefix(b[i:], []byte("//")):
				end = "\n"
			case bytes.HasPrefix(b[i:], []byte("/*")):
				end = "*/"
			default:
				continue
			}
			skip := bytes.Index(b[i+2:], []byte(end))
			if skip < 0 {
				return -1
			}
			i += 1 + skip + len(end)
		}
	}
	return -1
}

func (d *Document) position(offset int) Position {
	if d.newlines == nil {
		d.newlines = []int{-1} // as if one stood before the text
		for i, c := range d.body {
			if c == '\n' {
				d.newlines = append(d.newlines, i)
			}
		}
	}
	line, _ := slices.BinarySearch(d.newlines, offset)
	return Position{Line: line, Col: offset - d.newlines[line-1]}
}

// findValue walks to the value at path; a step into an array is a decimal index. Of keys that
// occur twice the last one is used, as everywhere in JSON.
func (d *Document) findValue(path []string) (found *hujson.Value, depth int) {
	v := &d.root
	for i, step := range path {
		next := child(v, step)
		if next == nil {
			return v, i
		}
		v = next
	}
	return v, len(path)
}

func child(v *hujson.Value, step string) *hujson.Value {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := len(c.Members) - 1; i >= 0; i-- {
			if nameOf(&c.Members[i].Name) == step {
				return &c.Members[i].Value
			}
		}
	case *hujson.Array:
		if i, ok := index(step, len(c.Elements)); ok {
			return &c.Elements[i]
		}
	}
	return nil
}

func index(step string, length int) (int, bool) {
	i, err := strconv.Atoi(step)
	return i, err == nil && i >= 0 && i < length && strconv.Itoa(i) == step
}

// Where returns the place of the value at path; of a member, that of its key.
func (d *Document) Where(path ...string) (Position, bool) {
	v, depth := d.findValue(path)
	if depth < len(path) {
		return Position{}, false
	}
	if len(path) > 0 {
		parent, _ := d.findValue(path[:len(path)-1])
		if o, ok := parent.Value.(*hujson.Object); ok {
			for i := range o.Members {
				if &o.Members[i].Value == v {
					return d.position(o.Members[i].Name.StartOffset), true
				}
			}
		}
	}
	return d.position(v.StartOffset), true
}

// Depth returns how many steps of path are there.
func (d *Document) Depth(path ...string) int {
	_, depth := d.findValue(path)
	return depth
}

// Keys returns the names in the object at path, in order, a repeated one each time.
func (d *Document) Keys(path ...string) []string {
	v, depth := d.findValue(path)
	o, ok := v.Value.(*hujson.Object)
	if depth < len(path) || !ok {
		return nil
	}
	keys := make([]string, len(o.Members))
	for i := range o.Members {
		keys[i] = nameOf(&o.Members[i].Name)
	}
	return keys
}

// Len returns the number of elements of the array at path, -1 when there is no array.
func (d *Document) Len(path ...string) int {
	v, depth := d.findValue(path)
	a, ok := v.Value.(*hujson.Array)
	if depth < len(path) || !ok {
		return -1
	}
	return len(a.Elements)
}

// Raw returns the value at path as plain JSON, nil when there is none.
func (d *Document) Raw(path ...string) json.RawMessage {
	v, depth := d.findValue(path)
	if depth < len(path) {
		return nil
	}
	return appendPlain(nil, v)
}

// appendPlain writes a value without white space, comments and trailing commas.
func appendPlain(b []byte, v *hujson.Value) []byte {
	switch c := v.Value.(type) {
	case *hujson.Object:
		b = append(b, '{')
		for i := range c.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, c.Members[i].Name.Value.(hujson.Literal)...), ':')
			b = appendPlain(b, &c.Members[i].Value)
		}
		return append(b, '}')
	case *hujson.Array:
		b = append(b, '[')
		for i := range c.Elements {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendPlain(b, &c.Elements[i])
		}
		return append(b, ']')
	case hujson.Literal:
		return append(b, c...)
	}
	return b
}

// nameOf returns the text of an object's key.
func nameOf(v *hujson.Value) string {
	lit := v.Value.(hujson.Literal)
	if bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) { // nearly always, and much cheaper
		return string(lit[1 : len(lit)-1])
	}
	return lit.String()
}

// Decode reads the value at path into a Go value.
func (d *Document) Decode(into any, path ...string) error {
	raw := d.Raw(path...)
	if raw == nil {
		return fmt.Errorf("%s: not there", strings.Join(path, "."))
	}
	return json.Unmarshal(raw, into)
}
