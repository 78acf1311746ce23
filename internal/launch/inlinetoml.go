package launch

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// inlineTOML writes a value on one line, the only form in which an override
// can hold one. Tables have their keys sorted.
func inlineTOML(v any) (string, error) {
	var b strings.Builder
	if err := writeTOML(&b, v); err != nil {
		return "", err
	}
	return b.String(), nil
}

func writeTOML(b *strings.Builder, v any) error {
	switch v := v.(type) {
	case string:
		return writeTOMLString(b, v)
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		b.WriteString(tomlFloat(v))
	case time.Time:
		b.WriteString(v.Format(time.RFC3339Nano))
	case toml.LocalDate:
		b.WriteString(v.String())
	case toml.LocalTime:
		b.WriteString(v.String())
	case toml.LocalDateTime:
		b.WriteString(v.String())
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeTOML(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case map[string]any:
		return writeTOMLTable(b, v)
	default:
		return fmt.Errorf("holds a value of a kind hookmux cannot write (%T)", v)
	}
	return nil
}

func writeTOMLTable(b *strings.Builder, t map[string]any) error {
	keys := make([]string, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if isBareKey(k) {
			b.WriteString(k)
		} else if err := writeTOMLString(b, k); err != nil {
			return err
		}
		b.WriteByte('=')
		if err := writeTOML(b, t[k]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func isBareKey(k string) bool {
	for i := 0; i < len(k); i++ {
		switch c := k[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return k != ""
}

func writeTOMLString(b *strings.Builder, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not valid UTF-8", s)
	}
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return nil
}

func tomlFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0" // without a fraction it would be read as an integer
	}
	return s
}
