package edit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/tailscale/hujson"
)

// yamlStyle is how a YAML text is written, read off the text itself.
type yamlStyle struct {
	unit string // one level of indentation
	dash string // how far a list is indented below its key
}

func (d *yamlDoc) style() yamlStyle {
	unit, dash := -1, -1
	var walk func(n *yamlNode, depth int)
	walk = func(n *yamlNode, depth int) {
		if n.flow || unit >= 0 && dash >= 0 {
			return
		}
		for _, it := range n.items {
			c := it.node
			if n.kind == yamlMap && !c.flow && len(c.items) > 0 && d.column(c.start) >= d.column(it.start) {
				deeper := d.column(c.items[0].start) - d.column(it.start)
				if c.kind == yamlMap && unit < 0 && deeper > 0 {
					unit = deeper
				}
				if c.kind == yamlList && dash < 0 {
					dash = deeper
				}
			}
			walk(c, depth+1)
		}
	}
	walk(d.root, 0)
	if unit < 0 {
		unit = 2
		if dash > 0 {
			unit = dash
		}
	}
	if dash < 0 {
		dash = unit
	}
	return yamlStyle{strings.Repeat(" ", min(unit, 16)), strings.Repeat(" ", min(dash, 16))}
}

// column returns how far into its line an offset is.
func (d *yamlDoc) column(offset int) int { return offset - d.lineStart(offset) }

// member returns a key and its value, as lines.
func (s yamlStyle) member(key string, v *hujson.Value, indent string) string {
	return indent + yamlString(key) + ":" + s.formatValue(v, indent)
}

// element returns a dash and its value, as lines.
func (s yamlStyle) element(v *hujson.Value, indent string) string {
	inner := indent + "  "
	var below strings.Builder
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			below.WriteString(s.member(nameOf(&c.Members[i].Name), &c.Members[i].Value, inner))
		}
	case *hujson.Array:
		for i := range c.Elements {
			below.WriteString(s.element(&c.Elements[i], inner))
		}
	}
	if below.Len() == 0 {
		return indent + "- " + yamlInline(v) + "\n"
	}
	return indent + "- " + below.String()[len(inner):]
}

// formatValue returns what follows a colon, up to the end of its last line; indent is that of
// the key.
func (s yamlStyle) formatValue(v *hujson.Value, indent string) string {
	var below strings.Builder
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			below.WriteString(s.member(nameOf(&c.Members[i].Name), &c.Members[i].Value, indent+s.unit))
		}
	case *hujson.Array:
		for i := range c.Elements {
			below.WriteString(s.element(&c.Elements[i], indent+s.dash))
		}
	}
	if below.Len() == 0 {
		return " " + yamlInline(v) + "\n"
	}
	return "\n" + below.String()
}

// yamlInline returns a value within a line.
func yamlInline(v *hujson.Value) string { return yamlInlineStyle.formatValue(v) }

var yamlInlineStyle = inlineStyle{open: "{", end: "}", equals: ": ", key: yamlString,
	literal: func(c hujson.Literal) string {
		switch c.Kind() {
		case '"':
			return yamlString(c.String())
		case '0':
			return yamlNumber(string(c))
		}
		return string(c)
	}}

// yamlNumber spells a number without exponent: without a point in it, some
// readers of YAML take one for a string.
func yamlNumber(s string) string {
	if !strings.ContainsAny(s, "eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// plainYAML matches strings that every reader takes for strings without quotes, except the
// words below. Nothing that begins with a digit is: numbers, dates and base 60 differ between
// versions of YAML.
var plainYAML = lazyregexp.New(`^[A-Za-z_/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

var yamlWords = map[string]bool{
	"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true,
	"true": true, "false": true, "null": true, "nan": true, "inf": true,
}

func yamlString(s string) string {
	if plainYAML.MatchString(s) && !yamlWords[strings.ToLower(s)] && len(s) < 200 {
		return s
	}
	return quote(s)
}

// jsonTree reads what is to be written, its keys in the order given.
func jsonTree(raw json.RawMessage) (*hujson.Value, error) {
	v, err := hujson.Parse(bytes.Clone(raw))
	return &v, err
}
