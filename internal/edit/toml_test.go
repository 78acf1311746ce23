package edit

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

func itoa(i int) string { return strconv.Itoa(i) }

func TestTOMLSet(t *testing.T) {
	for _, c := range []struct {
		name, src, path string
		value           any
		want            string
	}{
		{"empty text", "", "a", 1, "a = 1\n"},
		{"empty text, table", "", "a.b", 1, "[a]\nb = 1\n"},
		{"only a comment", "# mine", "a", 1, "# mine\na = 1"},
		{"line of the top", "a = 1\n\n[t]\nb = 1\n", "c", "x", "a = 1\nc = \"x\"\n\n[t]\nb = 1\n"},
		{"first line of the top", "[t]\nb = 1\n", "c", 1, "c = 1\n[t]\nb = 1\n"},
		{"below the comment of the file", "# cfg\n\n[t]\nb = 1\n", "c", 1, "# cfg\nc = 1\n\n[t]\nb = 1\n"},
		{"above the comment of a header", "# about t\n[t]\nb = 1\n", "c", 1, "c = 1\n# about t\n[t]\nb = 1\n"},
		{"line of a table", "[t]\n  b=1 # one\n\n[u]\n", "t.c", true, "[t]\n  b=1 # one\n  c=true\n\n[u]\n"},
		{"empty table", "[t] # none\n\n[u]\n", "t.c", 1, "[t] # none\nc = 1\n\n[u]\n"},
		{"new table", "a = 1\n", "t.c", 1, "a = 1\n\n[t]\nc = 1\n"},
		{"new table, open end", "a = 1", "t.c", 1, "a = 1\n\n[t]\nc = 1"},
		{"new table, carriage returns", "\ufeffa = 1\r\n", "t.c", 1, "\ufeffa = 1\r\n\r\n[t]\r\nc = 1\r\n"},
		{"beside its siblings", "[h.s.a]\nx = 1\n\n# on z\n[z]\n", "h.s.b", map[string]int{"x": 2}, "[h.s.a]\nx = 1\n\n[h.s.b]\nx = 2\n\n# on z\n[z]\n"},
		{"super table", "[a.b]\nx = 1\n", "a.c", 1, "[a.b]\nx = 1\n\n[a]\nc = 1\n"},
		{"inline table", "f = { a = 1 }\n", "f.b", 2, "f = { a = 1, b = 2 }\n"},
		{"empty inline table", "f = {}\n", "f.b.c", 2, "f = {b = { c = 2 }}\n"},
		{"dotted", "[t]\na.b = 1\na.c.d = 2 # x\ne = 3\n", "t.a.f.g", 1, "[t]\na.b = 1\na.c.d = 2 # x\na.f = { g = 1 }\ne = 3\n"},
		{"of an element", "[[h]]\na = 1\n\n[[h]]\na = 2\n", "h.0.b", 1, "[[h]]\na = 1\nb = 1\n\n[[h]]\na = 2\n"},
		{"table of an element", "[[h]]\na = 1\n\n[[h]]\na = 2\n", "h.0.b.c", 1, "[[h]]\na = 1\n\n[h.b]\nc = 1\n\n[[h]]\na = 2\n"},
		{"replace", "a = [1,\n 2] # x\n", "a", "q\"", "a = 'q\"' # x\n"},
		{"replace table", "[t]\na = 1\n\n[t.u]\nb = 1\n\n[z]\n", "t", map[string]int{"c": 1}, "[t]\nc = 1\n\n[z]\n"},
		{"replace element", "[[h]]\na = 1\n\n[[h]]\na = 2", "h.1", map[string]int{"c": 1}, "[[h]]\na = 1\n\n[[h]]\nc = 1"},
		{"behind lines of text", "a = \"\"\"\n[t]\nx = 1\n\"\"\"\n[u]\n", "b", 1, "a = \"\"\"\n[t]\nx = 1\n\"\"\"\nb = 1\n[u]\n"},
		{"same value", "a = 'x'   # c\n", "a", "x", "a = 'x'   # c\n"},
		{"list of tables", "", "h", []hook{{"a", 1}, {"b", 2}}, "[[h]]\ncommand = \"a\"\ntimeout = 1\n\n[[h]]\ncommand = \"b\"\ntimeout = 2\n"},
		{"strings", "", "a", []string{`say "x"`, `it's "x"`, "a\x7f\n", `C:\x`}, "a = ['say \"x\"', \"it's \\\"x\\\"\", \"a\\u007f\\n\", 'C:\\x']\n"},
	} {
		got, err := TOML.Set([]byte(c.src), split(c.path), c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestTOMLAppend(t *testing.T) {
	for _, c := range []struct{ name, src, path, want string }{
		{"missing", "a = 1\n", "h", "a = 1\n\n[[h]]\ncommand = \"c\"\n"},
		{"missing below", "a = 1\n", "h.e", "a = 1\n\n[[h.e]]\ncommand = \"c\"\n"},
		{"behind the last", "[[h]]\na = 1\n[[h]]\na = 2\n[h.sub]\nx = 1\n# on z\n[z]\n", "h", "[[h]]\na = 1\n[[h]]\na = 2\n[h.sub]\nx = 1\n\n[[h]]\ncommand = \"c\"\n# on z\n[z]\n"},
		{"at the end", "[[h]]\na = 1\n# end", "h", "[[h]]\na = 1\n# end\n\n[[h]]\ncommand = \"c\""},
		{"empty array", "h = [] # none\n[z]\n", "h", "h = [{ command = \"c\" }] # none\n[z]\n"},
		{"inline", "h = [{ a = 1 }]\n", "h", "h = [{ a = 1 }, { command = \"c\" }]\n"},
		{"over lines", "h = [\n  { a = 1 }, # one\n]\n", "h", "h = [\n  { a = 1 }, # one\n  { command = \"c\" },\n]\n"},
		{"over lines, no comma", "h = [\n  { a = 1 } # one\n]\n", "h", "h = [\n  { a = 1 }, # one\n  { command = \"c\" }\n]\n"},
		{"in an inline table", "h = { e = [] }\n", "h.e", "h = { e = [{ command = \"c\" }] }\n"},
		{"new in an inline table", "h = { e = [] }\n", "h.f", "h = { e = [], f = [{ command = \"c\" }] }\n"},
		{"dotted", "h.e = []\n[z]\n", "h.f", "h.e = []\nh.f = [{ command = \"c\" }]\n[z]\n"},
		{"list of an element", "[[h]]\na = 1\n[[h.e]]\nb = 1\n[[h]]\na = 2\n", "h.0.e", "[[h]]\na = 1\n[[h.e]]\nb = 1\n\n[[h.e]]\ncommand = \"c\"\n[[h]]\na = 2\n"},
	} {
		in, err := TOML.Append([]byte(c.src), split(c.path), hook{Command: "c"})
		if err != nil || string(in) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, in, err, c.want)
			continue
		}
		before, _ := TOML.Parse([]byte(c.src))
		after, _ := TOML.Parse(in)
		last := append(split(c.path), itoa(after.Len(split(c.path)...)-1))
		out, err := TOML.Prune(in, last, before.Depth(last...))
		if err != nil || string(out) != c.src {
			t.Errorf("%s: back to %q, %v; want %q", c.name, out, err, c.src)
		}
	}
}

func TestTOMLRemove(t *testing.T) {
	for _, c := range []struct{ name, src, path, want string }{
		{"line", "a = 1\nb = 2\n", "a", "b = 2\n"},
		{"comment behind stays", "a = 1 # one\nb = 2\n", "a", "# one\nb = 2\n"},
		{"table with its tables", "[a]\nx = 1\n\n[b]\n\n[a.c]\ny = 1\n\n[d]\n", "a", "\n[b]\n\n[d]\n"},
		{"one element with its tables", "[[h]]\na = 1\n\n[h.s]\nb = 1\n\n[[h]]\na = 2\n", "h.0", "\n[[h]]\na = 2\n"},
		{"all elements", "x = 1\n\n[[h]]\na = 1\n\n[[h]]\na = 2\n", "h", "x = 1\n"},
		{"dotted", "a.b = 1\na.c = 2\nd = 3\n", "a", "d = 3\n"},
		{"one of dotted", "a.b = 1\na.c = 2\nd = 3", "a.c", "a.b = 1\nd = 3"},
		{"inline", "a = { b = 1, c = 2 }\n", "a.c", "a = { b = 1 }\n"},
		{"quoted with dots", "[h.state.\"/x.json:a:0:0\"]\nk = 1\n\n[h.state.'/y']\n", "h.state./x.json:a:0:0", "\n[h.state.'/y']\n"},
		{"missing", "a = 1\n", "x.y", "a = 1\n"},
	} {
		path := split(c.path)
		if strings.HasPrefix(c.path, "h.state.") {
			path = []string{"h", "state", strings.TrimPrefix(c.path, "h.state.")}
		}
		got, err := TOML.Remove([]byte(c.src), path)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestTOMLRefuses(t *testing.T) {
	for _, c := range []struct {
		name, src, path string
		value           any
		part            string
	}{
		{"scalar", "a = 1\n", "a.b", 1, "not a table"},
		{"null", "", "a", nil, "no null"},
		{"broken", "a = 1\nb = [\n", "c", 1, "line 2"},
		{"twice", "a = 1\na = 2\n", "c", 1, "line 2"},
		{"too deep", "a = " + strings.Repeat("[", 100000), "c", 1, "nested deeper"},
		{"too deep, dots", strings.Repeat("a.", 100000) + "b = 1", "c", 1, "nested deeper"},
		{"table by a scalar", "[a]\nb = 1\n", "a", 1, "written as a table"},
		{"dots in braces", "a = { b.c = 1 }\n", "a.b.d", 1, "dots inside braces"},
	} {
		got, err := TOML.Set([]byte(c.src), split(c.path), c.value)
		if err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %.80q, %v; want %q", c.name, got, err, c.part)
		}
	}
	if _, err := TOML.Append([]byte("[[h]]\n"), []string{"h"}, 1); err == nil {
		t.Error("a number became a table")
	}
}

func TestTOMLReader(t *testing.T) {
	d, err := TOML.Parse([]byte("a = 1979-05-27\r\n[h.'x.y']\r\nk = { z = [1.50, inf] }\r\n[[l]]\r\n[[l]]\r\nm = " +
		"1\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := d.Where("h", "x.y", "k"); !ok || p != (Position{3, 1}) {
		t.Errorf("k at %v %v; want ok and p == (Position{3, 1})", p, ok)
	}
	if p, ok := d.Where("h", "x.y", "k", "z"); !ok || p != (Position{3, 7}) {
		t.Errorf("z at %v %v; want ok and p == (Position{3, 7})", p, ok)
	}
	if p, ok := d.Where("l", "1"); !ok || p != (Position{5, 1}) {
		t.Errorf("l.1 at %v %v; want ok and p == (Position{5, 1})", p, ok)
	}
	if raw := d.Raw(); string(raw) != `{"a":"1979-05-27","h":{"x.y":{"k":{"z":[1.5,"inf"]}}},"l":[{},{"m":1}]}` {
		t.Errorf("raw %s, want %s", raw, `{"a":"1979-05-27","h":{"x.y":{"k":{"z":[1.5,"inf"]}}},"l":[{},{"m":1}]}`)
	}
	if n := d.Len("l"); n != 2 {
		t.Errorf("len %d, want 2", n)
	}
	if keys := d.Keys(); len(keys) != 3 || keys[1] != "h" {
		t.Errorf(`keys %v; want len(keys) == 3 and keys[1] == "h"`, keys)
	}
	_, err = TOML.Parse([]byte("a = 1\n= 2\n"))
	var se *SyntaxError
	if !errors.As(err, &se) || se.Line != 2 {
		t.Errorf("syntax error %v; want errors.As(err, &se) and se.Line == 2", err)
	}
}
