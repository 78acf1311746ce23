package edit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// container is an object or array seen as bytes: what stands between its
// brackets, item by item.
type container struct {
	open, close int // first byte inside, and the closing bracket
	items       []item
}

type item struct {
	key        string // "" in an array
	start, end int
	comma      int // the comma behind it, -1 when there is none
	value      *hujson.Value
}

func (e *edition) container(v *hujson.Value) container {
	c := container{open: v.StartOffset + 1, close: v.EndOffset - 1}
	add := func(key string, start int, value *hujson.Value, last bool) {
		it := item{key: key, start: start, end: value.EndOffset, comma: -1, value: value}
		if !last || value.AfterExtra != nil {
			it.comma = value.EndOffset + len(value.AfterExtra)
		}
		c.items = append(c.items, it)
	}
	switch t := v.Value.(type) {
	case *hujson.Object:
		for i := range t.Members {
			m := &t.Members[i]
			add(nameOf(&m.Name), m.Name.StartOffset, &m.Value, i == len(t.Members)-1)
		}
	case *hujson.Array:
		for i := range t.Elements {
			add(strconv.Itoa(i), t.Elements[i].StartOffset, &t.Elements[i], i == len(t.Elements)-1)
		}
	}
	return c
}

func (c *container) find(key string) int {
	for i := len(c.items) - 1; i >= 0; i-- {
		if c.items[i].key == key {
			return i
		}
	}
	return -1
}

func (c *container) count(key string) (n int) {
	for _, it := range c.items {
		if it.key == key {
			n++
		}
	}
	return n
}

// lead is the offset where the blank before item i begins.
func (c *container) lead(i int) int {
	if i == 0 {
		return c.open
	}
	return c.items[i-1].comma + 1
}

// follow is the offset where that behind item i (and its comma) ends.
func (c *container) follow(i int) int {
	if i == len(c.items)-1 {
		return c.close
	}
	return c.items[i+1].start
}

func (e *edition) text(from, to int) string { return string(e.doc.body[from:to]) }

// add puts one more item at the end of v. The rules are made so that remove
// can tell from the bytes which of them was used.
func (e *edition) add(v *hujson.Value, path []string, key string, raw json.RawMessage) {
	c := e.container(v)
	ownLine := e.ownLine(path)
	closing := e.indentAt(v.StartOffset)
	indent := closing + e.style.unit
	name := ""
	if _, ok := v.Value.(*hujson.Object); ok {
		quoted, _ := encode(key)
		name = string(quoted) + ":" + e.style.colonGap
	}
	spread := func(at string) string { return name + e.style.value(raw, at, true) }
	inline := func() string { return name + e.style.value(raw, "", false) }

	if len(c.items) == 0 {
		inner := e.text(c.open, c.close)
		switch cut := lastLineBlank(inner); {
		case inner == "" && ownLine:
			e.put(c.open, c.close, e.style.nl+indent+spread(indent)+e.style.nl+closing)
		case cut > 0 && !blank(inner): // comments only: a line of its own below them
			e.put(c.open+cut, c.open+cut, indent+spread(indent)+e.style.nl)
		case cut > 0:
			e.put(c.open, c.open, inline())
		default:
			e.put(c.close, c.close, inline())
		}
		return
	}

	last := c.items[len(c.items)-1]
	gap := e.style.commaGap(e, c)
	comma, tail := "", last.comma+1
	if last.comma < 0 {
		tail = last.end
	} else {
		comma = ","
	}
	rest := e.text(tail, c.close)
	cut := lastLineBlank(rest)
	if lead := e.text(c.lead(len(c.items)-1), last.start); lastLineBlank(lead) > 0 {
		indent = lead[lastLineBlank(lead):]
	}
	if last.comma < 0 && (cut > 0 || !blank(rest)) {
		e.put(last.end, last.end, ",")
	}
	switch {
	case cut > 0:
		e.put(tail+cut, tail+cut, indent+spread(indent)+comma+e.style.nl)
	case !blank(rest):
		e.put(c.close, c.close, inline()+comma)
	case last.comma < 0:
		e.put(last.end, last.end, ","+gap+inline())
	default:
		e.put(tail, tail, gap+inline()+comma)
	}
}

// remove takes item i out: its line when it has one to itself, else its bytes
// and the blank that belonged to it. Comments stay.
func (e *edition) remove(c container, i int) {
	it := c.items[i]
	lead := e.text(c.lead(i), it.start)
	end := it.end
	if it.comma >= 0 {
		if blank(e.text(it.end, it.comma)) {
			end = it.comma + 1
		} else {
			e.put(it.comma, it.comma+1, "")
		}
	} else if i > 0 {
		prev := c.items[i-1]
		e.put(prev.comma, prev.comma+1, "")
	}
	ownEnd := it.comma < 0 || end > it.comma
	after := e.text(end, max(end, c.follow(i)))
	head, tail := lastLineBlank(lead), firstLineBlank(after)
	sole := len(c.items) == 1

	switch {
	case !ownEnd:
		e.put(it.start, it.end, "")
	case sole && oneNewline(lead) && oneNewline(after):
		e.put(c.open, c.close, "")
	case head > 0 && tail > 0:
		e.put(c.lead(i)+head, end+tail, "")
	case i < len(c.items)-1:
		e.put(it.start, end+blankPrefix(after), "")
	case head > 0 && !blank(after): // a comment behind it keeps the line
		e.put(it.start, end+blankPrefix(after), "")
	case !sole && blank(lead):
		e.put(c.lead(i), end, "")
	default:
		e.put(it.start, end, "")
	}
}

// replace puts new bytes in the place of a value.
func (e *edition) replace(v *hujson.Value, path []string, raw json.RawMessage) {
	old := e.text(v.StartOffset, v.EndOffset)
	many := strings.Contains(old, "\n") || e.ownLine(path)
	e.put(v.StartOffset, v.EndOffset, e.style.value(raw, e.indentAt(v.StartOffset), many))
}

// ownLine reports whether the value at path begins a line, with its key.
func (e *edition) ownLine(path []string) bool {
	if len(path) == 0 {
		return true
	}
	parent, _ := e.doc.find(path[:len(path)-1])
	c := e.container(parent)
	i := c.find(path[len(path)-1])
	return i >= 0 && lastLineBlank(e.text(c.lead(i), c.items[i].start)) > 0
}

// indentAt is the white space that begins the line of an offset.
func (e *edition) indentAt(offset int) string {
	line := e.doc.body[bytes.LastIndexByte(e.doc.body[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func blank(s string) bool { return strings.Trim(s, " \t\r\n") == "" }

func oneNewline(s string) bool { return blank(s) && strings.Count(s, "\n") == 1 }

// lastLineBlank is where the last line of s begins, when there is a newline
// before it and only white space on it; else 0.
func lastLineBlank(s string) int {
	at := strings.LastIndexByte(s, '\n') + 1
	if at > 0 && blank(s[at:]) {
		return at
	}
	return 0
}

// firstLineBlank is where the first line of s ends, its newline included, when
// only white space is on it; else 0.
func firstLineBlank(s string) int {
	at := strings.IndexByte(s, '\n') + 1
	if at > 0 && blank(s[:at]) {
		return at
	}
	return 0
}

// blankPrefix is the length of the white space on the first line of s.
func blankPrefix(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
