package edit

import (
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Where the values of a TOML text begin and end. The parser checked the text before, and doesn't
// report positions.

// scanValue reads the value at an offset; end is -1 when there is none.
func (d *tomlDoc) scanValue(at int) (n *tomlNode, end int) {
	if at >= len(d.body) {
		return nil, -1
	}
	switch d.body[at] {
	case '"', '\'':
		end = tomlStringEnd(d.body, at)
	case '[':
		return d.array(at)
	case '{':
		return d.inlineTable(at)
	default:
		end = at
		for end < len(d.body) && strings.IndexByte(",]}#\n", d.body[end]) < 0 {
			end++
		}
		for end > at && (d.body[end-1] == ' ' || d.body[end-1] == '\t') {
			end--
		}
		if end == at {
			end = -1
		}
	}
	return &tomlNode{kind: tomlScalar, start: at, end: end}, end
}

// gap skips white space and comments.
func (d *tomlDoc) gap(at int) int {
	for at < len(d.body) {
		switch d.body[at] {
		case ' ', '\t', '\n':
			at++
		case '#':
			at = d.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

func (d *tomlDoc) array(start int) (*tomlNode, int) {
	n := &tomlNode{kind: tomlArray, start: start}
	n.box.open = start + 1
	return d.bracketed(n, ']', func(at int) (item, int) {
		v, end := d.scanValue(at)
		if end < 0 {
			return item{}, -1
		}
		n.elements = append(n.elements, v)
		return item{key: strconv.Itoa(len(n.elements) - 1), start: at, end: end, comma: -1}, end
	})
}

func (d *tomlDoc) inlineTable(start int) (*tomlNode, int) {
	n := &tomlNode{kind: tomlInline, start: start}
	n.box.open = start + 1
	return d.bracketed(n, '}', func(at int) (item, int) {
		keys, end := d.dottedKey(at)
		if end < 0 || end >= len(d.body) || d.body[end] != '=' {
			return item{}, -1
		}
		v, end := d.scanValue(d.gap(end + 1))
		if end < 0 || !n.putValue(keys, v, nil) {
			return item{}, -1
		}
		key := keys[0]
		if len(keys) > 1 {
			key = "\x00" + strings.Join(keys, ".") // not one that can be asked for
		}
		return item{key: key, start: at, end: end, comma: -1}, end
	})
}

func (d *tomlDoc) bracketed(n *tomlNode, end byte, one func(at int) (item, int)) (*tomlNode, int) {
	at := d.gap(n.box.open)
	for at < len(d.body) && d.body[at] != end {
		it, next := one(at)
		if next < 0 {
			return nil, -1
		}
		at = d.gap(next)
		if at < len(d.body) && d.body[at] == ',' {
			it.comma = at
			at = d.gap(at + 1)
		} else if at < len(d.body) && d.body[at] != end {
			return nil, -1
		}
		n.box.items = append(n.box.items, it)
	}
	if at >= len(d.body) {
		return nil, -1
	}
	n.box.close, n.end = at, at+1
	return n, at + 1
}

// dottedKey reads a key up to the equals sign after it.
func (d *tomlDoc) dottedKey(at int) (keys []string, end int) {
	for at < len(d.body) {
		start := at
		if c := d.body[at]; c == '"' || c == '\'' {
			if at = tomlStringEnd(d.body, at); at < 0 {
				return nil, -1
			}
		} else {
			for at < len(d.body) && strings.IndexByte(" \t.=\n", d.body[at]) < 0 {
				at++
			}
		}
		keys = append(keys, tomlKeyText(d.text(start, at)))
		at = d.gap(at)
		if at >= len(d.body) || d.body[at] != '.' {
			return keys, at
		}
		at = d.gap(at + 1)
	}
	return nil, -1
}

func tomlKeyText(raw string) string {
	switch {
	case raw == "" || raw[0] != '"' && raw[0] != '\'':
		return raw
	case raw[0] == '\'' || !strings.Contains(raw, `\`):
		return raw[1 : len(raw)-1]
	}
	var v struct{ K string }
	if toml.Unmarshal([]byte("K = "+raw), &v) != nil {
		return raw
	}
	return v.K
}

// tomlStringEnd returns where the string at an offset ends, of all four kinds.
func tomlStringEnd(b []byte, at int) int {
	q := b[at]
	three := strings.Repeat(string(q), 3)
	if strings.HasPrefix(string(b[at:min(len(b), at+3)]), three) {
		for i := at + 3; i < len(b); i++ {
			if q == '"' && b[i] == '\\' {
				i++
				continue
			}
			if b[i] == q && i+3 <= len(b) && string(b[i:i+3]) == three {
				i += 3
				for n := 0; n < 2 && i < len(b) && b[i] == q; n++ { // up to two more belong to the text
					i++
				}
				return i
			}
		}
		return -1
	}
	for i := at + 1; i < len(b) && b[i] != '\n'; i++ {
		switch {
		case q == '"' && b[i] == '\\':
			i++
		case b[i] == q:
			return i + 1
		}
	}
	return -1
}

// tooDeepTOML returns the offset at which brackets nest deeper than maxDepth, or -1.
func tooDeepTOML(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '[', '{':
			if depth++; depth > maxDepth {
				return i
			}
		case ']', '}':
			depth--
		case '"', '\'':
			end := tomlStringEnd(b, i)
			if end < 0 {
				return -1 // a mistake that the parser will name
			}
			i = end - 1
		case '#':
			for i < len(b) && b[i] != '\n' {
				i++
			}
		}
	}
	return -1
}
