package edit

import (
	"strings"

	"github.com/tailscale/hujson"
)

// inlineStyle is how a format writes a value within a line.
type inlineStyle struct {
	open, end, equals string // of a table with something in it
	key               func(string) string
	literal           func(hujson.Literal) string
}

func (s *inlineStyle) formatValue(v *hujson.Value) string {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if len(c.Members) == 0 {
			return "{}"
		}
		parts := make([]string, len(c.Members))
		for i := range c.Members {
			parts[i] = s.key(nameOf(&c.Members[i].Name)) + s.equals + s.formatValue(&c.Members[i].Value)
		}
		return s.open + strings.Join(parts, ", ") + s.end
	case *hujson.Array:
		parts := make([]string, len(c.Elements))
		for i := range c.Elements {
			parts[i] = s.formatValue(&c.Elements[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case hujson.Literal:
		return s.literal(c)
	}
	return ""
}
