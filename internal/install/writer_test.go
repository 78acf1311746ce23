package install

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// pairs is a table that keeps its order.
type pairs []pair

type pair struct {
	key   string
	value any
}

// writer writes random values in the ways people write them.
type writer struct {
	rng   *rand.Rand
	out   strings.Builder
	hooks any
}

func (w *writer) pick(of ...string) string { return of[w.rng.IntN(len(of))] }

func (w *writer) table(depth int, root bool) *pairs {
	out := &pairs{}
	for i := range w.rng.IntN(4) {
		*out = append(*out, pair{"k" + strconv.Itoa(i), w.value(depth)})
	}
	if root && w.rng.IntN(3) == 0 {
		*out = append(*out, pair{"z", pairs{{"last", "one"}}})
	}
	return out
}

func (w *writer) value(depth int) any {
	switch n := w.rng.IntN(9); {
	case n == 0:
		return w.rng.IntN(100)
	case n == 1:
		return w.rng.IntN(2) == 0
	case n < 5 || depth == 0:
		return w.pick("text", "two words", "it's", "a # b", "x: y", "// no", "ü", "")
	case n == 5:
		return []any{}
	case n == 6:
		return []any{"a", w.rng.IntN(9)}
	case n == 7:
		return []any{*w.table(depth-1, false), *w.table(depth-1, false)}
	}
	return *w.table(depth-1, false)
}

// put places hooks in a table, in the middle of it or at its end.
func (w *writer) put(root *pairs, at []string, hooks any) {
	if len(at) == 0 {
		if table, ok := hooks.(pairs); ok {
			*root = append(*root, table...)
		}
		return
	}
	for i := len(at) - 1; i > 0; i-- {
		hooks = pairs{{at[i], hooks}}
	}
	i := w.rng.IntN(len(*root) + 1)
	*root = append((*root)[:i:i], append(pairs{{at[0], hooks}}, (*root)[i:]...)...)
}

func tableOf(v any) (pairs, bool) {
	switch t := v.(type) {
	case pairs:
		return t, true
	case *pairs:
		return *t, true
	}
	return nil, false
}

func (w *writer) json(v any, indent, step string) {
	line := func(at string) {
		if step != "" {
			w.out.WriteString("\n" + at)
		} else if w.rng.IntN(2) == 0 {
			w.out.WriteByte(' ')
		}
		if step != "" && w.rng.IntN(12) == 0 {
			w.out.WriteString("// mine\n" + at)
		}
	}
	if t, ok := tableOf(v); ok {
		if len(t) == 0 {
			w.out.WriteString(w.pick("{}", "{ }"))
			return
		}
		w.out.WriteByte('{')
		for i, p := range t {
			line(indent + step)
			w.out.WriteString(strconv.Quote(p.key) + w.pick(": ", ":"))
			w.json(p.value, indent+step, step)
			if i < len(t)-1 || w.rng.IntN(10) == 0 {
				w.out.WriteByte(',')
			}
		}
		line(indent)
		w.out.WriteByte('}')
		return
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		w.out.Write(hookentry.AsJSON(v))
	case len(list) == 0:
		w.out.WriteString("[]")
	default:
		w.out.WriteByte('[')
		for i, e := range list {
			line(indent + step)
			w.json(e, indent+step, step)
			if i < len(list)-1 {
				w.out.WriteByte(',')
			}
		}
		line(indent)
		w.out.WriteByte(']')
	}
}

// inline writes a value on one line, in TOML's way or YAML's.
func (w *writer) inline(v any, equals string) string {
	if t, ok := tableOf(v); ok {
		var parts []string
		for _, p := range t {
			parts = append(parts, p.key+equals+w.inline(p.value, equals))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if list, ok := v.([]any); ok {
		var parts []string
		for _, e := range list {
			parts = append(parts, w.inline(e, equals))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(hookentry.AsJSON(v))
}

func (w *writer) toml(v any, at []string) {
	t, _ := tableOf(v)
	later := func(v any) bool {
		if _, ok := tableOf(v); ok {
			return true
		}
		list, _ := v.([]any)
		for _, e := range list {
			if _, ok := tableOf(e); !ok {
				return false
			}
		}
		return len(list) > 0
	}
	inline := make([]bool, len(t))
	for i, p := range t {
		inline[i] = !later(p.value) || w.rng.IntN(4) == 0
		if inline[i] {
			w.remark()
			fmt.Fprintf(&w.out, "%s%s%s\n", p.key, w.pick(" = ", "=", "  =  "), w.inline(p.value, " = "))
		}
	}
	for i, p := range t {
		if inline[i] {
			continue
		}
		path := slices.Concat(at, []string{p.key})
		if list, ok := p.value.([]any); ok {
			for _, e := range list {
				w.gap()
				fmt.Fprintf(&w.out, "[[%s]]\n", strings.Join(path, "."))
				w.toml(e, path)
			}
			continue
		}
		w.gap()
		fmt.Fprintf(&w.out, "[%s]\n", strings.Join(path, "."))
		w.toml(p.value, path)
	}
}

func (w *writer) remark() {
	if w.rng.IntN(12) == 0 {
		w.out.WriteString("# mine\n")
	}
}

func (w *writer) gap() {
	if w.rng.IntN(2) == 0 {
		w.out.WriteByte('\n')
	}
	w.remark()
}

func (w *writer) yaml(v any, indent, step string) {
	t, _ := tableOf(v)
	if len(t) == 0 && indent != "" {
		return
	}
	for _, p := range t {
		if w.rng.IntN(12) == 0 {
			w.out.WriteString(indent + "# mine\n")
		}
		key := p.key
		if w.rng.IntN(8) == 0 {
			key = strconv.Quote(key)
		}
		w.out.WriteString(indent + key + ":")
		list, isList := p.value.([]any)
		table, isTable := tableOf(p.value)
		switch {
		case isTable && len(table) > 0 && w.rng.IntN(4) > 0:
			w.out.WriteByte('\n')
			w.yaml(table, indent+step, step)
		case isList && len(list) > 0 && w.rng.IntN(4) > 0:
			w.out.WriteByte('\n')
			w.items(list, indent+w.pick("", step), step)
		default:
			w.out.WriteString(" " + w.inline(p.value, ": ") + "\n")
		}
	}
}

func (w *writer) items(list []any, indent, step string) {
	for _, e := range list {
		table, ok := tableOf(e)
		if !ok || len(table) == 0 {
			w.out.WriteString(indent + "- " + w.inline(e, ": ") + "\n")
			continue
		}
		// The first key stands behind the dash.
		start := w.out.Len()
		w.yaml(table, indent+"  ", step)
		text := w.out.String()
		block := text[start:]
		if i := strings.Index(block, indent+"  "); i == 0 && !strings.HasPrefix(block, indent+"  #") {
			w.out.Reset()
			w.out.WriteString(text[:start] + indent + "- " + block[len(indent)+2:])
			continue
		}
		w.out.Reset()
		w.out.WriteString(text[:start] + indent + "- " + w.inline(e, ": ") + "\n")
	}
}
