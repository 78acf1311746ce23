package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

type tomlKind int

const (
	tomlScalar tomlKind = iota
	tomlTable           // by headers, by dotted keys, or only by what is below it
	tomlInline          // { }
	tomlArray           // [ ]
	tomlTables          // [[ ]]
)

// tomlNode is a value and its position.
type tomlNode struct {
	kind       tomlKind
	start, end int // of a value after an equals sign or in a list; of a key, for tables
	keys       []string
	children   map[string]*tomlNode
	elements   []*tomlNode
	box        container    // what is between the brackets
	section    *tomlSection // the header that defines it
	dotted     *tomlSection // the section whose dotted keys define it
	prefix     []string     // those keys
	line       *tomlLine    // the line it is the value of
	keyed      bool         // follows a dotted key in an inline table
}

// tomlSection is a header and the lines below it. The first one has no header.
type tomlSection struct {
	start, end int
	lines      []*tomlLine
}

// tomlLine is a key and its value.
type tomlLine struct {
	start, end int
	keys       []string
	gap        string // what is between them
	section    *tomlSection
}

func (s *tomlSection) contentEnd() int {
	if len(s.lines) > 0 {
		return s.lines[len(s.lines)-1].end
	}
	return s.end
}

// tomlDoc is a parsed TOML text.
type tomlDoc struct {
	*lines
	plainDoc
	root     *tomlNode
	sections []*tomlSection
}

var errUnclearTOML = errors.New("unclear TOML; change it by hand")

func parseTOML(src []byte) (doc *tomlDoc, err error) {
	t, err := newLines(src)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil { // the library's, on a text it has no idea of
			doc, err = nil, &SyntaxError{Position{1, 1}, fmt.Sprintf("not readable as TOML (%v)", p)}
		}
	}()
	d := &tomlDoc{lines: t}
	if at := tooDeepTOML(t.body); at >= 0 {
		return nil, depthError(t.position(at))
	}
	if d.plain, err = d.meaning(); err != nil {
		return nil, err
	}
	top := &tomlSection{}
	d.sections = []*tomlSection{top}
	d.root = &tomlNode{kind: tomlTable, section: top}
	table, section := d.root, top
	var p unstable.Parser
	p.Reset(t.body)
	for p.NextExpression() {
		e := p.Expression()
		keys, first, last := keysOf(e)
		if len(keys) > maxDepth {
			return nil, depthError(t.position(first))
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			array := e.Kind == unstable.ArrayTable
			section = d.header(first, last, array)
			if section == nil {
				return nil, errUnclearTOML
			}
			if table = d.root.define(keys, section, array); table == nil {
				return nil, errUnclearTOML
			}
		case unstable.KeyValue:
			line := &tomlLine{start: first, keys: keys, section: section}
			at := t.afterBlank(last)
			if at >= len(t.body) || t.body[at] != '=' {
				return nil, errUnclearTOML
			}
			at = t.afterBlank(at + 1)
			line.gap = t.text(last, at)
			v, end := d.scanValue(at)
			if end < 0 || t.afterBlank(end) != t.afterBlank(int(e.Raw.Offset+e.Raw.Length)) {
				return nil, errUnclearTOML // it and the library disagree about where the value ends
			}
			line.end, v.line = end, line
			section.lines = append(section.lines, line)
			if !table.putValue(keys, v, section) {
				return nil, errUnclearTOML
			}
		}
	}
	if p.Error() != nil {
		return nil, errUnclearTOML
	}
	return d, nil
}

// meaning returns what the text says.
func (d *tomlDoc) meaning() (any, error) {
	plain := map[string]any{}
	if err := toml.Unmarshal(d.body, &plain); err != nil {
		var e *toml.DecodeError
		if errors.As(err, &e) {
			row, col := e.Position()
			return nil, &SyntaxError{Position{max(row, 1), max(col, 1)}, strings.TrimPrefix(e.Error(), "toml: ")}
		}
		return nil, &SyntaxError{Position{1, 1}, err.Error()}
	}
	return normalizeValue(plain), nil
}

func keysOf(e *unstable.Node) (keys []string, first, last int) {
	if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
		return nil, 0, 0
	}
	first = -1
	for it := e.Key(); it.Next(); {
		k := it.Node()
		if first < 0 {
			first = int(k.Raw.Offset)
		}
		last = int(k.Raw.Offset + k.Raw.Length)
		keys = append(keys, string(k.Data))
	}
	return keys, first, last
}

// header widens a key to the brackets around it.
func (d *tomlDoc) header(first, last int, array bool) *tomlSection {
	brackets := 1
	if array {
		brackets = 2
	}
	start := len(bytes.TrimRight(d.body[:first], " \t")) - brackets
	end := d.afterBlank(last) + brackets
	if start < 0 || end > len(d.body) || d.body[start] != '[' || d.body[end-1] != ']' {
		return nil
	}
	s := &tomlSection{start: start, end: end}
	d.sections = append(d.sections, s)
	return s
}

func (n *tomlNode) get(key string) *tomlNode { return n.children[key] }

func (n *tomlNode) attach(key string, child *tomlNode) {
	if n.children == nil {
		n.children = map[string]*tomlNode{}
	}
	n.keys = append(n.keys, key)
	n.children[key] = child
}

// define returns the table that a header opens.
func (n *tomlNode) define(keys []string, s *tomlSection, array bool) *tomlNode {
	for i, key := range keys {
		last := i == len(keys)-1
		next := n.get(key)
		switch {
		case last && array:
			if next == nil {
				next = &tomlNode{kind: tomlTables, start: s.start, end: s.end}
				n.attach(key, next)
			}
			if next.kind != tomlTables {
				return nil
			}
			element := &tomlNode{kind: tomlTable, section: s, start: s.start, end: s.end}
			next.elements = append(next.elements, element)
			return element
		case next == nil:
			next = &tomlNode{kind: tomlTable, start: s.start, end: s.end}
			n.attach(key, next)
		case next.kind == tomlTables:
			next = next.elements[len(next.elements)-1]
		case next.kind != tomlTable:
			return nil
		}
		n = next
	}
	n.section, n.start, n.end = s, s.start, s.end
	return n
}

// putValue hangs a value below a table, by keys that may be dotted.
func (n *tomlNode) putValue(keys []string, v *tomlNode, s *tomlSection) bool {
	for i, key := range keys[:len(keys)-1] {
		next := n.get(key)
		if next == nil {
			next = &tomlNode{kind: tomlTable, dotted: s, prefix: slices.Clone(keys[:i+1]), start: v.start, end: v.end}
			if v.line != nil {
				next.start, next.end = v.line.start, v.line.end
			}
			next.keyed = s == nil
			n.attach(key, next)
		}
		if next.kind != tomlTable {
			return false
		}
		n = next
	}
	last := keys[len(keys)-1]
	if n.get(last) != nil {
		return false
	}
	v.keyed = s == nil && len(keys) > 1
	n.attach(last, v)
	return true
}

// below returns the sections of a table or of a list of tables, its own first.
func (n *tomlNode) below() []*tomlSection {
	var all []*tomlSection
	if n.section != nil {
		all = append(all, n.section)
	}
	for _, k := range n.keys {
		all = append(all, n.children[k].below()...)
	}
	for _, e := range n.elements {
		if n.kind == tomlTables {
			all = append(all, e.below()...)
		}
	}
	return all
}

// tomlWay is the way to a value.
type tomlWay struct {
	node   *tomlNode
	depth  int
	names  []string    // the steps that are keys, for a header
	parent *tomlNode   // of the last step taken
	trail  []*tomlNode // all nodes passed
}

func (d *tomlDoc) findWay(path []string) tomlWay {
	w := tomlWay{node: d.root, trail: []*tomlNode{d.root}}
	for i, step := range path {
		var next *tomlNode
		switch w.node.kind {
		case tomlTable, tomlInline:
			next = w.node.get(step)
			if next != nil {
				w.names = append(w.names, step)
			}
		case tomlArray, tomlTables:
			if at, ok := index(step, len(w.node.elements)); ok {
				next = w.node.elements[at]
			}
		}
		if next == nil {
			w.depth = i
			return w
		}
		w.parent, w.node = w.node, next
		w.trail = append(w.trail, next)
	}
	w.depth = len(path)
	return w
}

func (d *tomlDoc) Depth(path ...string) int { return d.findWay(path).depth }

func (d *tomlDoc) Where(path ...string) (Position, bool) {
	w := d.findWay(path)
	if w.depth < len(path) {
		return Position{}, false
	}
	at := w.node.start
	if w.node.line != nil {
		at = w.node.line.start
	} else if w.parent != nil && w.parent.kind == tomlInline {
		if i := w.parent.box.findKey(path[len(path)-1]); i >= 0 {
			at = w.parent.box.items[i].start
		}
	}
	return d.position(at), true
}

func (d *tomlDoc) Keys(path ...string) []string {
	w := d.findWay(path)
	if w.depth < len(path) {
		return nil
	}
	return slices.Clone(w.node.keys)
}
