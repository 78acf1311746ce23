package edit

import (
	"bytes"
	"slices"
	"strings"
)

// splice is one replacement of bytes.
type splice struct {
	from, to int
	text     string
}

// cutter collects the splices of one change. It works the same for everything between brackets
// with commas: JSON, the flow style of YAML, the arrays and inline tables of TOML.
type cutter struct {
	body    []byte
	splices []splice
}

func (k *cutter) addSplice(from, to int, text string) {
	k.splices = append(k.splices, splice{from, to, text})
}

func (k *cutter) text(from, to int) string { return string(k.body[from:to]) }

// spliced is src with the splices done. Where maps an offset in body to one in
// src; nl is written for the newlines of new text.
func (k *cutter) spliced(src []byte, where func(int) int, nl string) []byte {
	slices.SortStableFunc(k.splices, func(a, b splice) int { return a.from - b.from })
	out := make([]byte, 0, len(src)+256)
	at := 0
	for _, s := range k.splices {
		from, to := where(s.from), where(s.to)
		if from > at {
			out = append(out, src[at:from]...)
		}
		if nl != "\n" {
			s.text = strings.ReplaceAll(s.text, "\n", nl)
		}
		out = append(out, s.text...)
		at = max(at, to)
	}
	return append(out, src[at:]...)
}

// container is an object or array seen as bytes: what is between its brackets, item by item.
type container struct {
	open, close int // first byte inside, and the closing bracket
	items       []item
}

func (c *container) findKey(key string) int {
	for i := len(c.items) - 1; i >= 0; i-- {
		if c.items[i].key == key {
			return i
		}
	}
	return -1
}

func (c *container) countKey(key string) (n int) {
	for _, it := range c.items {
		if it.key == key {
			n++
		}
	}
	return n
}

// leadStart returns the offset where the blank before item i begins.
func (c *container) leadStart(i int) int {
	if i == 0 {
		return c.open
	}
	return c.items[i-1].comma + 1
}

// trailEnd returns the offset where the blank after item i (and its comma) ends.
func (c *container) trailEnd(i int) int {
	if i == len(c.items)-1 {
		return c.close
	}
	return c.items[i+1].start
}

// newItem describes an item to add, and how the text around it is written.
type newItem struct {
	spread  func(indent string) string // as it looks on lines of its own
	inline  string                     // as it looks within a line
	ownLine bool                       // whether an empty container may be opened up
	closing string                     // indentation of the line the container begins on
	unit    string                     // one level of indentation
	nl      string
	gap     string // what follows a comma within a line
}

// addItem adds one more item at the end of c. The rules are such that removeItem can see from
// the bytes which of them was used.
func (k *cutter) addItem(c container, n newItem) {
	indent := n.closing + n.unit
	if len(c.items) == 0 {
		inner := k.text(c.open, c.close)
		switch cut := lastLineBlank(inner); {
		case inner == "" && n.ownLine:
			k.addSplice(c.open, c.close, n.nl+indent+n.spread(indent)+n.nl+n.closing)
		case cut > 0 && !blank(inner): // comments only: a line of its own below them
			k.addSplice(c.open+cut, c.open+cut, indent+n.spread(indent)+n.nl)
		case cut > 0:
			k.addSplice(c.open, c.open, n.inline)
		default:
			k.addSplice(c.close, c.close, n.inline)
		}
		return
	}

	last := c.items[len(c.items)-1]
	comma, tail := "", last.comma+1
	if last.comma < 0 {
		tail = last.end
	} else {
		comma = ","
	}
	rest := k.text(tail, c.close)
	cut := lastLineBlank(rest)
	if lead := k.text(c.leadStart(len(c.items)-1), last.start); lastLineBlank(lead) > 0 {
		indent = lead[lastLineBlank(lead):]
	}
	if last.comma < 0 && (cut > 0 || !blank(rest)) {
		k.addSplice(last.end, last.end, ",")
	}
	switch {
	case cut > 0:
		k.addSplice(tail+cut, tail+cut, indent+n.spread(indent)+comma+n.nl)
	case !blank(rest):
		k.addSplice(c.close, c.close, n.inline+comma)
	case last.comma < 0:
		k.addSplice(last.end, last.end, ","+n.gap+n.inline)
	default:
		k.addSplice(tail, tail, n.gap+n.inline+comma)
	}
}

// removeItem removes item i: its line if it has one to itself, else its
// bytes and the blank that belonged to it. Comments stay.
func (k *cutter) removeItem(c container, i int) {
	it := c.items[i]
	lead := k.text(c.leadStart(i), it.start)
	end := it.end
	if it.comma >= 0 {
		if blank(k.text(it.end, it.comma)) {
			end = it.comma + 1
		} else {
			k.addSplice(it.comma, it.comma+1, "")
		}
	} else if i > 0 {
		prev := c.items[i-1]
		k.addSplice(prev.comma, prev.comma+1, "")
	}
	ownEnd := it.comma < 0 || end > it.comma
	after := k.text(end, max(end, c.trailEnd(i)))
	head, tail := lastLineBlank(lead), firstLineBlank(after)
	sole := len(c.items) == 1

	switch {
	case !ownEnd:
		k.addSplice(it.start, it.end, "")
	case sole && oneNewline(lead) && oneNewline(after):
		k.addSplice(c.open, c.close, "")
	case head > 0 && tail > 0:
		k.addSplice(c.leadStart(i)+head, end+tail, "")
	case i < len(c.items)-1:
		k.addSplice(it.start, end+blankPrefix(after), "")
	case head > 0 && !blank(after): // a comment after it keeps the line
		k.addSplice(it.start, end+blankPrefix(after), "")
	case !sole && blank(lead):
		k.addSplice(c.leadStart(i), end, "")
	default:
		k.addSplice(it.start, end, "")
	}
}

// indentAt returns the white space that begins the line of an offset.
func (k *cutter) indentAt(offset int) string {
	line := k.body[bytes.LastIndexByte(k.body[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func blank(s string) bool { return strings.Trim(s, " \t\r\n") == "" }

func oneNewline(s string) bool { return blank(s) && strings.Count(s, "\n") == 1 }

// lastLineBlank returns where the last line of s begins, when there is a newline
// before it and only white space on it; else 0.
func lastLineBlank(s string) int {
	at := strings.LastIndexByte(s, '\n') + 1
	if at > 0 && blank(s[at:]) {
		return at
	}
	return 0
}

// firstLineBlank returns where the first line of s ends, its newline included, when
// only white space is on it; else 0.
func firstLineBlank(s string) int {
	at := strings.IndexByte(s, '\n') + 1
	if at > 0 && blank(s[:at]) {
		return at
	}
	return 0
}

// blankPrefix returns the length of the white space on the first line of s.
func blankPrefix(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// item is one member or element of a container.
type item struct {
	key        string // an element's is its index
	start, end int
	comma      int // the comma after it, -1 if there is none
}
