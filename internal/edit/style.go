package edit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a text is written, read off the text itself.
type style struct {
	nl       string
	unit     string // one level of indentation
	colonGap string // between colon and value
}

func styleOf(d *Document) style {
	s := style{nl: "\n", unit: "  ", colonGap: " "}
	if at := bytes.IndexByte(d.src, '\n'); at > 0 && d.src[at-1] == '\r' {
		s.nl = "\r\n"
	}
	e := &edition{cutter: cutter{body: d.body}, doc: d}
	unitFound, gapFound := false, false
	for v := range d.root.All() {
		c := e.container(v)
		if len(c.items) == 0 {
			continue
		}
		if o, ok := v.Value.(*hujson.Object); ok && !gapFound {
			if gap := string(o.Members[0].Value.BeforeExtra); blank(gap) && !strings.Contains(gap, "\n") {
				s.colonGap, gapFound = gap, true
			}
		}
		lead := e.text(c.open, c.items[0].start)
		if cut := lastLineBlank(lead); cut > 0 && !unitFound {
			outer := e.indentAt(v.StartOffset)
			if deeper, ok := strings.CutPrefix(lead[cut:], outer); ok && deeper != "" {
				s.unit, unitFound = deeper, true
			}
		}
		if unitFound && gapFound {
			break
		}
	}
	return s
}

// commaGap returns what follows a comma within a line of c.
func (s style) commaGap(e *edition, c container) string {
	if len(c.items) > 1 {
		if gap := e.text(c.leadStart(1), c.items[1].start); blank(gap) && !strings.Contains(gap, "\n") {
			return gap
		}
	}
	if s.colonGap == "" {
		return ""
	}
	return " "
}

// shortList is how long a list of plain values may be and stay on one line.
const shortList = 60

// formatValue writes JSON in this style; indent is that of the line it begins on.
func (s style) formatValue(raw json.RawMessage, indent string, spread bool) string {
	v, err := hujson.Parse(raw)
	if err != nil {
		return string(raw)
	}
	var b strings.Builder
	s.write(&b, &v, indent, spread)
	return b.String()
}

func (s style) write(b *strings.Builder, v *hujson.Value, indent string, spread bool) {
	comma := ","
	if s.colonGap != "" {
		comma = ", "
	}
	items := func(open, end string, n int, each func(i int, indent string)) {
		b.WriteString(open)
		inner := indent + s.unit
		for i := range n {
			switch {
			case spread && i > 0:
				b.WriteString("," + s.nl + inner)
			case spread:
				b.WriteString(s.nl + inner)
			case i > 0:
				b.WriteString(comma)
			}
			each(i, inner)
		}
		if spread && n > 0 {
			b.WriteString(s.nl + indent)
		}
		b.WriteString(end)
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		items("{", "}", len(c.Members), func(i int, inner string) {
			b.Write(c.Members[i].Name.Value.(hujson.Literal))
			b.WriteString(":" + s.colonGap)
			s.write(b, &c.Members[i].Value, inner, spread)
		})
	case *hujson.Array:
		if v.EndOffset-v.StartOffset <= shortList && plainList(c) {
			spread = false
		}
		items("[", "]", len(c.Elements), func(i int, inner string) {
			s.write(b, &c.Elements[i], inner, spread)
		})
	case hujson.Literal:
		b.Write(c)
	}
}

func plainList(a *hujson.Array) bool {
	for i := range a.Elements {
		if _, ok := a.Elements[i].Value.(hujson.Literal); !ok {
			return false
		}
	}
	return true
}
