package edit

import (
	"strings"

	"pgregory.net/rapid"
)

// dress gives a text the line ends, the mark and the end of file it has.
func dress(t *rapid.T, text string) []byte {
	if rapid.IntRange(0, 4).Draw(t, "open") == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	if rapid.IntRange(0, 4).Draw(t, "crlf") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if rapid.IntRange(0, 9).Draw(t, "mark") == 0 {
		text = "\ufeff" + text
	}
	return []byte(text)
}

// pick returns one of a few texts.
func pick(t *rapid.T, label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(t, label)
}

// yamlDocument returns a random YAML text that is valid by construction.
func yamlDocument(t *rapid.T) []byte {
	y := &yamlMaker{T: t, unit: rapid.IntRange(1, 4).Draw(t, "unit"), dash: rapid.IntRange(0, 2).Draw(t, "dash")}
	var b strings.Builder
	b.WriteString(pick(t, "top", "", "", "# top\n", "---\n", "# c\n\n---\n# d\n", "\n"))
	b.WriteString(y.entries("", 2))
	b.WriteString(pick(t, "bottom", "", "", "# end\n", "\n\n", "...\n", "  # end\n"))
	return dress(t, b.String())
}

type yamlMaker struct {
	*rapid.T
	unit, dash int
	anchors    int
}

func (y *yamlMaker) between(indent string) string {
	return pick(y.T, "between", "", "", "", "", "\n", indent+"# c\n", "# c\n", "\n"+indent+"# - x: y\n")
}

func (y *yamlMaker) behind() string {
	return pick(y.T, "behind", "", "", "", "", " # c", "   # 'c", "  ")
}

var yamlKeys = []string{"a", "b c", "'q'", "\"d\\u0065\"", "e.f", "1"}

// entries returns the lines of a block map.
func (y *yamlMaker) entries(indent string, depth int) string {
	var b strings.Builder
	n := rapid.IntRange(1, 3).Draw(y.T, "n")
	first := rapid.IntRange(0, 2).Draw(y.T, "first")
	for i := range n {
		if i > 0 {
			b.WriteString(y.between(indent))
		}
		b.WriteString(indent + yamlKeys[first+i] + pick(y.T, "colon", ":", ":", ":", " :"))
		b.WriteString(y.value(indent, strings.Repeat(" ", y.unit), depth, false))
	}
	return b.String()
}

// value returns what stands behind a colon or a dash, to the end of its last line.
func (y *yamlMaker) value(indent, deeper string, depth int, dash bool) string {
	kinds := 9
	if depth <= 0 {
		kinds = 6
	}
	inner := indent + deeper
	switch rapid.IntRange(0, kinds).Draw(y.T, "kind") {
	case 0:
		return y.behind() + "\n"
	case 1:
		switch mark := rapid.IntRange(0, 9).Draw(y.T, "mark"); {
		case mark == 0:
			y.anchors++
			return " &x" + itoa(y.anchors) + " " + pick(y.T, "anchored", "1", "{}", "[a]", "'q'") + y.behind() + "\n"
		case mark == 1 && y.anchors > 0:
			return " *x" + itoa(y.anchors) + y.behind() + "\n"
		case mark == 2:
			return " " + pick(y.T, "tagged", "!!str 5", "!mine {a: 1}", "!!seq [1]") + y.behind() + "\n"
		}
		return " " + pick(y.T, "scalar", "1", "-2.5", "true", "null", "~", "plain text", "http://x.y/z#w", "2024-01-01",
			"0x1f") + y.behind() + "\n"
	case 2:
		return " " + pick(y.T, "quoted", "\"a # b\"", "'it''s: {'", "\"x\\n\\\"y\"", "\"é\"", "''") + y.behind() + "\n"
	case 3:
		head := pick(y.T, "head", "|", "|-", ">", "|+", ">-")
		body := pick(y.T, "body", "%text\n", "%text\n%  more\n", "%one\n\n%two\n", "%# no comment\n", "%- x: y\n\n",
			"%t\n\n\n")
		return " " + head + "\n" + strings.ReplaceAll(body, "%", inner+" ")
	case 4:
		text := pick(y.T, "several", "plain\n%over lines", "\"quoted\n%over lines\"", "'s\n\n%t'")
		return " " + strings.ReplaceAll(text, "%", inner+" ") + y.behind() + "\n"
	case 5, 6:
		return " " + y.flow(2, inner) + y.behind() + "\n"
	case 7:
		if dash { // on the line of the dash
			return " " + strings.TrimLeft(y.entries(indent+"  ", depth-1), " ")
		}
		return y.behind() + "\n" + y.between(inner) + y.entries(inner, depth-1)
	case 8:
		return y.behind() + "\n" + y.entries(inner, depth-1)
	}
	at := indent + strings.Repeat(" ", y.dash)
	if dash {
		at = indent + "  "
	}
	var b strings.Builder
	b.WriteString(y.behind() + "\n")
	for i := range rapid.IntRange(1, 3).Draw(y.T, "n") {
		if i > 0 {
			b.WriteString(y.between(at))
		}
		b.WriteString(at + "-" + y.value(at, "  ", depth-1, true))
	}
	return b.String()
}

// flow returns a value in brackets.
func (y *yamlMaker) flow(depth int, indent string) string {
	if depth == 0 {
		return pick(y.T, "atom", "1", "x y", "'a, b'", "\"]\"", "~", "{}", "[]")
	}
	gap := pick(y.T, "gap", "", " ", " ", "\n"+indent+" ", " # c\n"+indent+" ")
	var items []string
	list := rapid.Bool().Draw(y.T, "list")
	for i := range rapid.IntRange(0, 2).Draw(y.T, "n") {
		item := y.flow(depth-1, indent)
		if !list {
			item = pick(y.T, "key", "k", "\"q\"", "'s'") + itoa(i) + ": " + item
			item = strings.NewReplacer("\"q\"", "\"q", "'s'", "'s").Replace(item)
			if strings.HasPrefix(item, "\"q") {
				item = strings.Replace(item, ":", "\":", 1)
			} else if strings.HasPrefix(item, "'s") {
				item = strings.Replace(item, ":", "':", 1)
			}
		}
		items = append(items, item)
	}
	comma := ""
	if len(items) > 0 {
		comma = pick(y.T, "comma", "", "", ",")
	}
	inside := gap + strings.Join(items, ","+gap+pick(y.T, "pad", " ", " ")) + comma + gap
	if list {
		return "[" + inside + "]"
	}
	return "{" + inside + "}"
}

// tomlDocument returns a random TOML text that is valid by construction.
func tomlDocument(t *rapid.T) []byte {
	m := &tomlMaker{T: t, equals: pick(t, "equals", " = ", " = ", "=", "  =  ")}
	var b strings.Builder
	b.WriteString(pick(t, "top", "", "", "# top\n", "# top\n\n", "\n"))
	b.WriteString(m.lines(""))
	used := 0
	for range rapid.IntRange(0, 3).Draw(t, "sections") {
		used++
		name := "t" + itoa(used)
		b.WriteString(m.between())
		switch rapid.IntRange(0, 4).Draw(t, "section") {
		case 0:
			b.WriteString("[" + name + "]" + m.behind() + "\n" + m.lines(pick(t, "indent", "", "", "  ")))
		case 1:
			b.WriteString("[ " + name + ".\"x.y\" ]\n" + m.lines("") + m.between() + "[" + name + ".z]\n" + m.lines(""))
		case 2:
			b.WriteString("[[" + name + "]]" + m.behind() + "\n" + m.lines("") + m.between() + "[[" + name + "]]\n" +
				m.lines(""))
		case 3:
			b.WriteString("[[" + name + "]]\n" + m.lines("") + m.between() + "[" + name + ".sub]\n" + m.lines("") +
				"[[" + name + ".list]]\n" + m.lines("") + m.between() + "[[" + name + "]]\n" + m.lines(""))
		case 4:
			b.WriteString("[" + name + ".deep.er]\n" + m.lines("") + m.between() + "[" + name + "]\n" + m.lines(""))
		}
	}
	b.WriteString(pick(t, "bottom", "", "", "# end\n", "\n\n", "  "))
	return dress(t, b.String())
}

type tomlMaker struct {
	*rapid.T
	equals string
}

func (m *tomlMaker) between() string {
	return pick(m.T, "between", "\n", "\n", "", "# c\n", "\n# c\n", "\n\n")
}

func (m *tomlMaker) behind() string { return pick(m.T, "behind", "", "", "", " # c", "  # \"c", "  ") }

// lines are keys with values.
func (m *tomlMaker) lines(indent string) string {
	keys := [][]string{{"a", "\"q.q\"", "'s'"}, {"d.a", "d.b.c", "d . 'e'"}, {"k-1", "x.y", "1"}}
	set := rapid.SampledFrom(keys).Draw(m.T, "keys")
	var b strings.Builder
	for i := range rapid.IntRange(0, 3).Draw(m.T, "n") {
		if i > 0 {
			b.WriteString(pick(m.T, "gap", "", "", "", "\n", indent+"# c\n"))
		}
		b.WriteString(indent + set[i] + m.equals + m.value(2, true) + m.behind() + "\n")
	}
	return b.String()
}

func (m *tomlMaker) value(depth int, spread bool) string {
	kind := rapid.IntRange(0, 5).Draw(m.T, "kind")
	if depth == 0 {
		kind = min(kind, 2)
	}
	switch kind {
	case 0:
		return pick(m.T, "atom", "1", "-1_000", "1.5e3", "true", "inf", "1979-05-27", "1979-05-27 07:32:00Z", "0xff")
	case 1:
		return pick(m.T, "text", `"a # b"`, `'c:\d'`, `"\u00e9\""`, `""`, "\"é\"")
	case 2:
		if !spread {
			return "2"
		}
		return pick(m.T, "long", "\"\"\"\n[x]\na = 1\"\"\"", "'''\n# c\n''''", "\"\"\"a\"\"\"\"\"",
			"\"\"\"\\\n   b\"\"\"")
	case 3:
		var items []string
		for i := range rapid.IntRange(0, 2).Draw(m.T, "n") {
			items = append(items, pick(m.T, "key", "k", "\"k k\".x", "'j'.y", "i")+itoa(i)+pick(m.T, "eq", " = ", "=")+
				m.value(depth-1, false))
		}
		gap := pick(m.T, "gap", "", " ")
		return "{" + gap + strings.Join(items, ", ") + gap + "}"
	}
	gap := ""
	if spread {
		gap = pick(m.T, "gap", "", " ", "\n  ", "\n\t", " # c\n  ")
	}
	var items []string
	for range rapid.IntRange(0, 3).Draw(m.T, "n") {
		items = append(items, m.value(depth-1, spread))
	}
	comma := ""
	if len(items) > 0 {
		comma = pick(m.T, "comma", "", "", ",")
	}
	return "[" + gap + strings.Join(items, ","+gap+" ") + comma + gap + "]"
}
