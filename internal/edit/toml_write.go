package edit

import (
	"errors"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/tailscale/hujson"
)

var bareTOML = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func tomlKey(s string) string {
	if bareTOML.MatchString(s) {
		return s
	}
	return quote(s)
}

func tomlDotted(keys []string) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = tomlKey(k)
	}
	return strings.Join(parts, ".")
}

// tomlString prefers the quotes in which nothing is escaped: commands are full
// of double quotes.
func tomlString(s string) string {
	if strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && printable(s) {
		return "'" + s + "'"
	}
	return quote(s)
}

// tomlInlineText returns a value within a line.
func tomlInlineText(v *hujson.Value) string { return tomlInlineStyle.formatValue(v) }

var tomlInlineStyle = inlineStyle{open: "{ ", end: " }", equals: " = ", key: tomlKey,
	literal: func(c hujson.Literal) string {
		if c.Kind() == '"' {
			return tomlString(c.String())
		}
		return string(c)
	}}

var errNoNull = errors.New("edit: TOML has no null; leave the key out")

// hasNull reports whether a value can't be expressed in TOML.
func hasNull(v *hujson.Value) bool {
	for e := range v.All() {
		if lit, ok := e.Value.(hujson.Literal); ok && lit.Kind() == 'n' {
			return true
		}
	}
	return false
}

// asTables returns the members of v when it is better written below headers: one
// table, or a list of nothing but tables.
func asTables(v *hujson.Value) (tables []*hujson.Object, list bool) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if len(c.Members) > 0 {
			return []*hujson.Object{c}, false
		}
	case *hujson.Array:
		for i := range c.Elements {
			o, ok := c.Elements[i].Value.(*hujson.Object)
			if !ok {
				return nil, false
			}
			tables = append(tables, o)
		}
		return tables, true
	}
	return nil, false
}

// tomlSectionText returns a header with its lines.
func tomlSectionText(names []string, o *hujson.Object, array bool, gap string) string {
	open, end := "[", "]\n"
	if array {
		open, end = "[[", "]]\n"
	}
	var b strings.Builder
	b.WriteString(open + tomlDotted(names) + end)
	for i := range o.Members {
		b.WriteString(tomlKey(nameOf(&o.Members[i].Name)) + gap + tomlInlineText(&o.Members[i].Value) + "\n")
	}
	return b.String()
}
