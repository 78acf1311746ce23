package edit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
	"github.com/tailscale/hujson"
)

// yamlFormat edits YAML: one document per text, block and flow style as it is found. Anchors and
// aliases are left alone; a change to something that an alias repeats elsewhere is rejected. A
// key with nothing after it is treated as empty, and is what remains when the last line below
// it is removed.
type yamlFormat struct{}

func (yamlFormat) Parse(src []byte) (Reader, error) {
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (yamlFormat) Set(src []byte, path []string, value any) ([]byte, error) {
	d, raw, err := beginYAML(src, path, value)
	if err != nil {
		return nil, err
	}
	return bytesOf(d.set(path, raw))
}

func (d *yamlDoc) set(path []string, raw json.RawMessage) (spliceable, error) {
	if len(path) == 0 {
		return nil, errNoPath
	}
	if hasValue(d.plain, path, raw) {
		return d, nil
	}
	n, depth := d.findNode(path)
	var err error
	if depth == len(path) {
		err = d.replace(path, raw)
	} else {
		if n.kind != yamlMap && n.kind != yamlNothing || n.pair {
			return nil, fmt.Errorf("%s is not a mapping; change it by hand", displayPath(path[:depth]))
		}
		whole := raw
		for i := len(path) - 1; i > depth; i-- {
			whole = member(path[i], whole)
		}
		err = d.addMember(n, path[:depth], path[depth], whole, false)
	}
	if err != nil {
		return nil, err
	}
	return d.finish(nil, func(root any) (any, error) { return setIn(root, path, raw) })
}

func (yamlFormat) Append(src []byte, path []string, value any) ([]byte, error) {
	d, raw, err := beginYAML(src, path, value)
	if err != nil {
		return nil, err
	}
	n, depth := d.findNode(path)
	if depth < len(path) {
		return bytesOf(d.set(path, slices.Concat([]byte("["), raw, []byte("]"))))
	}
	if n.kind != yamlList && n.kind != yamlNothing {
		return nil, fmt.Errorf("%s is not a list; change it by hand", displayPath(path))
	}
	if err := d.addMember(n, path, "", raw, true); err != nil {
		return nil, err
	}
	return bytesOf(d.finish(nil, func(root any) (any, error) { return appendIn(root, path, raw) }))
}

func (yamlFormat) Remove(src []byte, path []string) ([]byte, error) {
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	return bytesOf(d.remove(path))
}

func (d *yamlDoc) remove(path []string) (spliceable, error) {
	if len(path) == 0 {
		return nil, errNoPath
	}
	if err := d.reachable(path[:len(path)-1]); err != nil {
		return nil, err
	}
	parent, depth := d.findNode(path[:len(path)-1])
	i, ok := parent.child(path[len(path)-1])
	if depth < len(path)-1 || !ok {
		return d, nil
	}
	switch {
	case parent.pair:
		return nil, fmt.Errorf("%s has no braces of its own; change it by hand", displayPath(path[:depth]))
	case parent.flow:
		d.removeItem(d.container(parent), i)
	default:
		d.removeBlock(parent, i)
	}
	return d.finish(path, func(root any) (any, error) { return removeIn(root, path) })
}

func (yamlFormat) RemoveAt(src []byte, path []string, i int) ([]byte, error) {
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	return bytesOf(removeAt(d, path, i))
}

func (yamlFormat) Prune(src []byte, path []string, keep int) ([]byte, error) {
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	out, err := bytesOf(prune(d, path, keep))
	if err != nil {
		return nil, err
	}
	return keepComments(YAML, src, out), nil
}

func beginYAML(src []byte, path []string, value any) (*yamlDoc, json.RawMessage, error) {
	raw, err := encode(value)
	if err != nil {
		return nil, nil, err
	}
	d, err := parseYAML(src)
	if err != nil {
		return nil, nil, err
	}
	return d, raw, d.reachable(path)
}

// reachable fails if the way to path leads through something that is written in one place and used
// in several.
func (d *yamlDoc) reachable(path []string) error {
	for i := range len(path) + 1 {
		n, depth := d.findNode(path[:i])
		switch {
		case depth < i:
			return nil
		case n.kind == yamlAlias:
			return fmt.Errorf("%s is the alias *%s; change it by hand where &%s is", displayPath(path[:i]), n.anchor,
				n.anchor)
		case n.anchor != "" && d.aliases[n.anchor]:
			return fmt.Errorf("%s is repeated elsewhere as *%s; change it by hand", displayPath(path[:i]), n.anchor)
		}
	}
	return nil
}

// hasValue reports whether the value at path is already there.
func hasValue(root any, path []string, raw json.RawMessage) bool {
	v, ok := lookIn(root, path)
	want, err := decodePlain(raw)
	return ok && err == nil && reflect.DeepEqual(v, normalizeValue(want))
}

func appendIn(root any, path []string, value any) (any, error) {
	list, _ := getIn(root, path).([]any)
	plain, err := plainOf(value)
	if err != nil {
		return nil, err
	}
	return setIn(root, path, append(slices.Clone(list), plain))
}

func (d *yamlDoc) container(n *yamlNode) container {
	c := container{open: n.start + 1, close: n.end - 1}
	if at := strings.IndexAny(d.text(n.start, n.end), "[{"); at > 0 { // an anchor or tag before it
		c.open += at
	}
	for _, it := range n.items {
		c.items = append(c.items, item{key: it.key, start: it.start, end: it.end, comma: it.comma})
	}
	return c
}

// addMember adds one more item at the end of n.
func (d *yamlDoc) addMember(n *yamlNode, path []string, key string, raw json.RawMessage, list bool) error {
	v, err := jsonTree(raw)
	if err != nil {
		return err
	}
	s := d.style()
	lines := func(indent string) string {
		if list {
			return s.element(v, indent)
		}
		return s.member(key, v, indent)
	}
	switch {
	case n.flow:
		inline := yamlInline(v)
		if !list {
			inline = yamlString(key) + ": " + inline
		}
		c := d.container(n)
		d.addItem(c, newItem{
			spread:  func(string) string { return inline },
			inline:  inline,
			closing: d.indentAt(n.start),
			unit:    s.unit,
			nl:      "\n",
			gap:     d.commaGap(c),
		})
	case n.kind != yamlNothing:
		indent := strings.Repeat(" ", d.column(n.items[0].start))
		d.insertLines(d.lineEnd(n.end), lines(indent))
	case len(path) == 0:
		d.insertLines(d.endOfDocument(), lines(""))
	default:
		if n.anchor != "" || n.tag != "" {
			return fmt.Errorf("%s has a mark and no value; change it by hand", displayPath(path))
		}
		parent, _ := d.findNode(path[:len(path)-1])
		i, _ := parent.child(path[len(path)-1])
		it := parent.items[i]
		switch {
		case parent.flow && parent.kind == yamlMap:
			open, end := "{", "}"
			inline := yamlInline(v)
			if list {
				open, end = "[", "]"
			} else {
				inline = yamlString(key) + ": " + inline
			}
			d.addSplice(it.colon, it.colon, " "+open+inline+end)
		case parent.flow:
			return fmt.Errorf("%s has no value; change it by hand", displayPath(path))
		default:
			deeper := s.unit
			if list {
				deeper = s.dash
			}
			if parent.kind == yamlList {
				deeper = "  "
			}
			d.insertLines(d.lineEnd(it.end), lines(strings.Repeat(" ", d.column(it.start))+deeper))
		}
	}
	return nil
}

// commaGap returns what follows a comma within a line of c.
func (k *cutter) commaGap(c container) string {
	if len(c.items) > 1 {
		if gap := k.text(c.leadStart(1), c.items[1].start); blank(gap) && !strings.Contains(gap, "\n") {
			return gap
		}
	}
	return " "
}

// endOfDocument returns where lines can be added to a document with nothing in it.
func (d *yamlDoc) endOfDocument() int {
	for _, s := range d.spans {
		if s.kind == token.DocumentEndType {
			return d.lineStart(s.start)
		}
	}
	return len(d.body)
}

// removeBlock removes item i of a block.
func (d *yamlDoc) removeBlock(parent *yamlNode, i int) {
	it := parent.items[i]
	before := d.text(d.lineStart(it.start), it.start)
	if blank(before) {
		d.cutLines(it.start, it.end)
		return
	}
	// The first item follows the dash of the list that n is an element of.
	if i+1 < len(parent.items) {
		if next := parent.items[i+1].start; blank(d.text(it.end, next)) {
			d.addSplice(it.start, next, "")
			return
		}
		d.addSplice(it.start, it.end, "")
		return
	}
	start := it.start
	for start > 0 && d.body[start-1] == ' ' {
		start--
	}
	d.addSplice(start, it.end, "")
}

// replace replaces the value at path by a new one.
func (d *yamlDoc) replace(path []string, raw json.RawMessage) error {
	v, err := jsonTree(raw)
	if err != nil {
		return err
	}
	n, _ := d.findNode(path)
	parent, _ := d.findNode(path[:len(path)-1])
	i, _ := parent.child(path[len(path)-1])
	it := parent.items[i]
	if parent.pair {
		return fmt.Errorf("%s has no braces of its own; change it by hand", displayPath(path[:len(path)-1]))
	}
	_, plain := v.Value.(hujson.Literal)
	behind := d.text(it.end, d.lineEnd(it.end))
	switch {
	case parent.flow && n.kind == yamlNothing:
		d.addSplice(it.colon, it.colon, " "+yamlInline(v))
	case parent.flow, n.flow, plain && n.kind == yamlScalar:
		d.addSplice(n.start, n.end, yamlInline(v))
	case plain || !blank(behind): // a comment after it must still follow a line
		d.addSplice(it.colon, max(it.colon, n.end), " "+yamlInline(v))
	default:
		s := d.style()
		indent := strings.Repeat(" ", d.column(it.start))
		var text string
		if parent.kind == yamlList {
			text = s.element(v, indent)[len(indent)+1:]
		} else {
			text = s.formatValue(v, indent)
		}
		d.addSplice(it.colon, max(it.colon, n.end), strings.TrimSuffix(text, "\n"))
	}
	return nil
}

// finish splices, parses again and compares. What became empty at removed is
// written as nothing.
func (d *yamlDoc) finish(removed []string, meant func(root any) (any, error)) (spliceable, error) {
	after, err := parseYAML(d.result())
	if err != nil {
		return nil, fmt.Errorf("edit: the change would break the text (%w); change it by hand", err)
	}
	was := d.plain
	if was == nil {
		was = map[string]any{}
	}
	want, err := meant(was)
	if err != nil {
		return nil, err
	}
	want = normalizeValue(want)
	hollow := func(want any, at []string) any {
		if len(at) == 0 {
			return nil
		}
		want, _ = setIn(want, at, nil)
		return want
	}
	if !sameBut(after.plain, want, removed, hollow) || !inOrder(after.marks, d.marks) {
		return nil, errOtherWise
	}
	return after, nil
}

// inOrder reports whether all of part is in whole, in the same order.
func inOrder(part, whole []string) bool {
	for _, w := range whole {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}
