package edit

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

func (e *edition) container(v *hujson.Value) container {
	c := container{open: v.StartOffset + 1, close: v.EndOffset - 1}
	add := func(key string, start int, value *hujson.Value, last bool) {
		it := item{key: key, start: start, end: value.EndOffset, comma: -1}
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

// addMember adds one more item at the end of v.
func (e *edition) addMember(v *hujson.Value, path []string, key string, raw json.RawMessage) {
	c := e.container(v)
	name := ""
	if _, ok := v.Value.(*hujson.Object); ok {
		quoted, _ := encode(key)
		name = string(quoted) + ":" + e.style.colonGap
	}
	e.addItem(c, newItem{
		spread:  func(at string) string { return name + e.style.formatValue(raw, at, true) },
		inline:  name + e.style.formatValue(raw, "", false),
		ownLine: e.ownLine(path),
		closing: e.indentAt(v.StartOffset),
		unit:    e.style.unit,
		nl:      e.style.nl,
		gap:     e.style.commaGap(e, c),
	})
}

// replace replaces the bytes of a value.
func (e *edition) replace(v *hujson.Value, path []string, raw json.RawMessage) {
	old := e.text(v.StartOffset, v.EndOffset)
	many := strings.Contains(old, "\n") || e.ownLine(path)
	e.addSplice(v.StartOffset, v.EndOffset, e.style.formatValue(raw, e.indentAt(v.StartOffset), many))
}

// ownLine reports whether the value at path begins a line, with its key.
func (e *edition) ownLine(path []string) bool {
	if len(path) == 0 {
		return true
	}
	parent, _ := e.doc.findValue(path[:len(path)-1])
	c := e.container(parent)
	i := c.findKey(path[len(path)-1])
	return i >= 0 && lastLineBlank(e.text(c.leadStart(i), c.items[i].start)) > 0
}
