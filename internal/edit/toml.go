package edit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// tomlFormat edits TOML. What is there stays as it is written: a list in brackets gets one more
// inline table, a list of [[tables]] one more table after the last, a table of dotted keys one more
// dotted key. New content is written below a header of its own if that is allowed.
type tomlFormat struct{}

func (tomlFormat) Parse(src []byte) (Reader, error) {
	d, err := parseTOML(src)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (tomlFormat) Set(src []byte, path []string, value any) ([]byte, error) {
	d, raw, err := beginTOML(src, value)
	if err != nil {
		return nil, err
	}
	return bytesOf(d.set(path, raw))
}

func (d *tomlDoc) set(path []string, raw json.RawMessage) (spliceable, error) {
	if len(path) == 0 {
		return nil, errNoPath
	}
	if hasValue(d.plain, path, raw) {
		return d, nil
	}
	v, err := tomlTree(raw)
	if err != nil {
		return nil, err
	}
	w := d.findWay(path)
	switch {
	case w.depth == len(path):
		err = d.replace(w, v)
	case w.node.kind == tomlTable || w.node.kind == tomlInline:
		err = d.addMember(w, path, v, raw)
	default:
		err = fmt.Errorf("%s is not a table; change it by hand", displayPath(path[:w.depth]))
	}
	if err != nil {
		return nil, err
	}
	return d.finish(nil, func(root any) (any, error) { return setIn(root, path, raw) })
}

func (tomlFormat) Append(src []byte, path []string, value any) ([]byte, error) {
	d, raw, err := beginTOML(src, value)
	if err != nil {
		return nil, err
	}
	w := d.findWay(path)
	if w.depth < len(path) {
		return bytesOf(d.set(path, slices.Concat([]byte("["), raw, []byte("]"))))
	}
	v, err := tomlTree(raw)
	if err != nil {
		return nil, err
	}
	switch w.node.kind {
	case tomlTables:
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s is a list of tables; only a table can be added", displayPath(path))
		}
		d.insertSection(w.node, tomlSectionText(w.names, o, true, d.equals()))
	case tomlArray:
		d.addInline(w.node, tomlInlineText(v))
	default:
		return nil, fmt.Errorf("%s is not a list; change it by hand", displayPath(path))
	}
	return bytesOf(d.finish(nil, func(root any) (any, error) { return appendIn(root, path, raw) }))
}

func (tomlFormat) Remove(src []byte, path []string) ([]byte, error) {
	d, err := parseTOML(src)
	if err != nil {
		return nil, err
	}
	return bytesOf(d.remove(path))
}

func (d *tomlDoc) remove(path []string) (spliceable, error) {
	if len(path) == 0 {
		return nil, errNoPath
	}
	w := d.findWay(path)
	if w.depth < len(path) {
		return d, nil
	}
	if w.parent.kind == tomlInline || w.parent.kind == tomlArray || w.node.keyed {
		i := w.parent.box.findKey(path[len(path)-1])
		if i < 0 || w.node.keyed {
			return nil, fmt.Errorf("%s is written with dots inside braces; change it by hand", displayPath(path))
		}
		d.removeItem(w.parent.box, i)
	} else {
		all := d.extents(w.node)
		if s := d.leftover(w, all); s != nil {
			all = append(all, d.sectionExtent(s))
		}
		d.cut(all)
	}
	return d.finish(path, func(root any) (any, error) { return removeIn(root, path) })
}

func (tomlFormat) RemoveAt(src []byte, path []string, i int) ([]byte, error) {
	d, err := parseTOML(src)
	if err != nil {
		return nil, err
	}
	return bytesOf(removeAt(d, path, i))
}

func (tomlFormat) Prune(src []byte, path []string, keep int) ([]byte, error) {
	d, err := parseTOML(src)
	if err != nil {
		return nil, err
	}
	out, err := bytesOf(prune(d, path, keep))
	if err != nil {
		return nil, err
	}
	return keepComments(TOML, src, out), nil
}

func beginTOML(src []byte, value any) (*tomlDoc, json.RawMessage, error) {
	raw, err := encode(value)
	if err != nil {
		return nil, nil, err
	}
	d, err := parseTOML(src)
	return d, raw, err
}

// tomlTree reads what is to be written.
func tomlTree(raw json.RawMessage) (*hujson.Value, error) {
	v, err := jsonTree(raw)
	if err == nil && hasNull(v) {
		err = errNoNull
	}
	return v, err
}

// addMember adds what is missing of path below w.node.
func (d *tomlDoc) addMember(w tomlWay, path []string, v *hujson.Value, raw json.RawMessage) error {
	rest := path[w.depth:]
	n := w.node
	if n.keyed && n.kind == tomlTable {
		return fmt.Errorf("%s is written with dots inside braces; change it by hand", displayPath(path[:w.depth]))
	}
	if n.kind == tomlInline || n.dotted != nil {
		for i := len(rest) - 1; i > 0; i-- {
			raw = member(rest[i], raw)
		}
		whole, err := jsonTree(raw)
		if err != nil {
			return err
		}
		if n.kind == tomlInline {
			d.addInline(n, tomlKey(rest[0])+" = "+tomlInlineText(whole))
		} else {
			d.addDotted(n, rest[0], tomlInlineText(whole))
		}
		return nil
	}
	names := slices.Concat(w.names, rest)
	if tables, list := asTables(v); len(tables) > 0 {
		texts := make([]string, len(tables))
		for i, o := range tables {
			texts[i] = tomlSectionText(names, o, list, d.equals())
		}
		d.insertSection(n, strings.Join(texts, "\n"))
		return nil
	}
	line := tomlKey(rest[len(rest)-1]) + d.equals() + tomlInlineText(v) + "\n"
	if len(rest) > 1 || n.section == nil {
		d.insertSection(n, "["+tomlDotted(names[:len(names)-1])+"]\n"+line)
		return nil
	}
	if len(n.section.lines) == 0 && n.headerBelowChildren() {
		return fmt.Errorf("%s has an empty header below its own tables; take it out or write a key there",
			displayPath(path[:w.depth]))
	}
	at, indent := d.endOfLines(n.section)
	d.insertLines(at, indent+line)
	return nil
}

// headerBelowChildren reports whether a table's header is below one of the tables in it. It is
// only there for its lines: without it the table would still exist.
func (n *tomlNode) headerBelowChildren() bool {
	return n.section != nil && slices.ContainsFunc(n.below(),
		func(s *tomlSection) bool { return s.start < n.section.start })
}

// leftover returns the section of a late header that loses its last line.
func (d *tomlDoc) leftover(w tomlWay, gone []extent) *tomlSection {
	for _, n := range w.trail[1:] {
		if n == w.node || !n.headerBelowChildren() || len(n.section.lines) == 0 {
			continue
		}
		if !slices.ContainsFunc(n.section.lines, func(l *tomlLine) bool {
			return !slices.ContainsFunc(gone, func(x extent) bool { return x.from <= l.start && l.end <= x.to })
		}) {
			return n.section
		}
	}
	return nil
}

// addInline adds one more item between the brackets of n.
func (d *tomlDoc) addInline(n *tomlNode, inline string) {
	d.addItem(n.box, newItem{
		spread:  func(string) string { return inline },
		inline:  inline,
		closing: d.indentAt(n.start),
		unit:    "    ",
		nl:      "\n",
		gap:     d.commaGap(n.box),
	})
}

// addDotted adds a line to a table that consists of dotted keys.
func (d *tomlDoc) addDotted(n *tomlNode, key, value string) {
	after := n.dotted.lines[0]
	for _, l := range n.dotted.lines {
		if len(l.keys) > len(n.prefix) && slices.Equal(l.keys[:len(n.prefix)], n.prefix) {
			after = l
		}
	}
	text := d.indentAt(after.start) + tomlDotted(append(slices.Clone(n.prefix), key)) + d.equals() + value + "\n"
	d.insertLines(d.lineEnd(after.end), text)
}

// equals returns how the text writes the sign between key and value.
func (d *tomlDoc) equals() string {
	for _, s := range d.sections {
		for _, l := range s.lines {
			if len(l.gap) <= 3 {
				return l.gap
			}
		}
	}
	return " = "
}

// endOfLines returns where one more line of a section belongs, and its indentation.
func (d *tomlDoc) endOfLines(s *tomlSection) (at int, indent string) {
	switch {
	case len(s.lines) > 0:
		last := s.lines[len(s.lines)-1]
		return d.lineEnd(last.end), d.indentAt(last.start)
	case s != d.sections[0]:
		return d.lineEnd(s.end), d.indentAt(s.start)
	case len(d.sections) == 1:
		return len(d.body), ""
	}
	// No line above the first header yet. Comments at the top of the file that are separate stay at
	// the top; those of the header stay with it.
	for at < len(d.body) && d.body[at] == '#' {
		at = d.lineEnd(at)
	}
	if first := firstLineBlank(d.text(at, len(d.body))); at > 0 && first > 0 {
		return at, ""
	}
	return 0, ""
}

// insertSection puts a header with its lines after everything that belongs to n; at the top level
// that is the end of the text.
func (d *tomlDoc) insertSection(n *tomlNode, text string) {
	at := len(d.body)
	if n != d.root {
		end := -1
		for _, s := range n.below() {
			end = max(end, s.contentEnd())
		}
		if last := d.sections[len(d.sections)-1]; end >= 0 && end != last.contentEnd() {
			at = d.lineEnd(end)
		}
	}
	if len(d.body) > 0 {
		text = "\n" + text
	}
	d.insertLines(at, text)
}

// extent is a part of the text that goes.
type extent struct{ from, to int }

// extents returns the lines of a node: those of its sections, each with the empty
// line before it, and those whose key leads to it.
func (d *tomlDoc) extents(n *tomlNode) []extent {
	var all []extent
	for _, s := range n.below() {
		all = append(all, d.sectionExtent(s))
	}
	var walk func(n *tomlNode)
	walk = func(n *tomlNode) {
		if n.line != nil && n.section == nil {
			all = append(all, d.wholeLines(n.line.start, n.line.end))
			return
		}
		if n.section != nil {
			return // its lines go with it, those of its dotted keys too
		}
		for _, k := range n.keys {
			walk(n.children[k])
		}
	}
	walk(n)
	return all
}

// sectionExtent returns a section with the empty line before it.
func (d *tomlDoc) sectionExtent(s *tomlSection) extent {
	x := d.wholeLines(s.start, s.contentEnd())
	if x.from > 0 && x.from == d.lineStart(s.start) {
		if before := d.lineStart(x.from - 1); blank(d.text(before, x.from)) {
			x.from = before
		}
	}
	return x
}

// wholeLines widens a part to its lines; a comment after it stays.
func (d *tomlDoc) wholeLines(start, end int) extent {
	from, to := d.lineStart(start), d.lineEnd(end)
	if rest := d.text(end, to); !blank(rest) {
		return extent{start, end + blankPrefix(rest)}
	}
	return extent{from, to}
}

// cut removes parts. Those that touch are treated as one.
func (d *tomlDoc) cut(all []extent) {
	slices.SortFunc(all, func(a, b extent) int { return a.from - b.from })
	for i := 0; i < len(all); i++ {
		x := all[i]
		for i+1 < len(all) && all[i+1].from <= x.to {
			i++
			x.to = max(x.to, all[i].to)
		}
		if x.to == len(d.body) && d.openEnd() && x.from > 0 && d.body[x.from-1] == '\n' {
			x.from--
		}
		d.addSplice(x.from, x.to, "")
	}
}

// replace puts a new value where w leads.
func (d *tomlDoc) replace(w tomlWay, v *hujson.Value) error {
	n := w.node
	if n.kind != tomlTable && n.kind != tomlTables {
		d.addSplice(n.start, n.end, tomlInlineText(v))
		return nil
	}
	tables, list := asTables(v)
	sections := n.below()
	element := w.parent.kind == tomlTables
	if len(tables) == 0 || len(sections) == 0 || n.dotted != nil || list != (n.kind == tomlTables) {
		return fmt.Errorf("%s is written as a table; change it by hand", strings.Join(w.names, "."))
	}
	texts := make([]string, len(tables))
	for i, o := range tables {
		texts[i] = tomlSectionText(w.names, o, list || element, d.equals())
	}
	text := strings.Join(texts, "\n")
	all := d.extents(n)
	slices.SortFunc(all, func(a, b extent) int { return a.from - b.from })
	first := all[0]
	if cut := firstLineBlank(d.text(first.from, first.to)); cut > 0 { // the empty line before it stays
		first.from += cut
	}
	switch {
	case first.to == len(d.body) && d.openEnd():
		text = strings.TrimSuffix(text, "\n")
	case d.body[first.to-1] != '\n': // a comment after it
		text = strings.TrimSuffix(text, "\n") + " "
	}
	d.addSplice(first.from, first.to, text)
	d.cut(all[1:])
	return nil
}

// finish splices, parses again and compares. A table that exists only by what
// is below it goes with the last of that.
func (d *tomlDoc) finish(removed []string, meant func(root any) (any, error)) (spliceable, error) {
	after, err := parseTOML(d.result())
	if err != nil {
		return nil, fmt.Errorf("edit: the change would break the text (%w); change it by hand", err)
	}
	want, err := meant(d.plain)
	if err != nil {
		return nil, err
	}
	hollow := func(want any, at []string) any {
		if len(at) == 0 {
			return want
		}
		want, _ = removeIn(want, at)
		return want
	}
	if !sameBut(after.plain, normalizeValue(want), removed, hollow) {
		return nil, errOtherWise
	}
	return after, nil
}
