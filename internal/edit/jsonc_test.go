package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	for _, c := range []struct {
		name, src string
		path      []string
		value     any
		want      string
	}{
		{"empty text", "", []string{"a"}, 1, "{\n  \"a\": 1\n}\n"},
		{"only a mark", "\ufeff", []string{"a"}, 1, "\ufeff{\n  \"a\": 1\n}\n"},
		{"only a comment", "// mine", []string{"a"}, 1, "// mine\n{\n  \"a\": 1\n}\n"},
		{"one line", `{"a":1}`, []string{"b"}, 2, `{"a":1,"b":2}`},
		{"one line, wide", `{ "a": 1 }`, []string{"b"}, 2, `{ "a": 1, "b": 2 }`},
		{"spread", "{\n    \"a\": 1\n}", []string{"b"}, true, "{\n    \"a\": 1,\n    \"b\": true\n}"},
		{"tabs", "{\n\t\"a\": {}\n}\n", []string{"a", "b"}, 2, "{\n\t\"a\": {\n\t\t\"b\": 2\n\t}\n}\n"},
		{"comment behind the last", "{\n  \"a\": 1 // one\n}", []string{"b"}, 2, "{\n  \"a\": 1, // one\n  \"b\": 2\n}"},
		{"trailing comma", "{\n  \"a\": 1,\n}", []string{"b"}, 2, "{\n  \"a\": 1,\n  \"b\": 2,\n}"},
		{"carriage returns", "\ufeff{\r\n  \"a\": 1\r\n}\r\n", []string{"b", "c"}, "x", "\ufeff{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": \"x\"\r\n  }\r\n}\r\n"},
		{"replace", "{ /* k */ \"a\" /* c */ : 1 /* d */ }", []string{"a"}, 2, "{ /* k */ \"a\" /* c */ : 2 /* d */ }"},
		{"the last of two counts", `{"a":1,"a":2}`, []string{"a"}, 3, `{"a":1,"a":3}`},
		{"into a list", `{"a":[{"b":1}]}`, []string{"a", "0", "b"}, 2, `{"a":[{"b":2}]}`},
		{"no escape of <>&", `{}`, []string{"c"}, "a && b > c", "{\n  \"c\": \"a && b > c\"\n}"},
		{"empty key", `{"a":1}`, []string{""}, 2, `{"a":1,"":2}`},
		{"comment at the end without newline", "{\"a\":1} // end", []string{"b"}, 2, "{\"a\":1,\"b\":2} // end"},
		{"short list stays on a line", "{\n  \"a\": 1\n}", []string{"b"}, []int{1, 2}, "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}"},
		{"comments only inside", "{\n  // nothing yet\n}\n", []string{"a"}, 1, "{\n  // nothing yet\n  \"a\": 1\n}\n"},
	} {
		got, err := Set([]byte(c.src), c.path, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct{ src, part string }{
		{`{"a":`, "unexpected end"},
		{`{"a":1}`, "not an object"},
		{`[1]`, "not an object"},
		{strings.Repeat("[", 100000), "nested deeper"},
	} {
		if _, err := Set([]byte(c.src), []string{"a", "b"}, 1); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%.20s: %v; want %q", c.src, err, c.part)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct {
		name, src, path, want string
	}{
		{"middle line", "{\n  \"a\": 1,\n  \"b\": 2, \n  \"c\": 3\n}", "b", "{\n  \"a\": 1,\n  \"c\": 3\n}"},
		{"first inline", `{"a": 1, "b": 2}`, "a", `{"b": 2}`},
		{"last inline", `{"a": 1, "b": 2}`, "b", `{"a": 1}`},
		{"comment above stays", "{\n  // on b\n  \"b\": 2\n}", "b", "{\n  // on b\n}"},
		{"comment behind stays", "{\n  \"a\": 1,\n  \"b\": 2 // on b\n}", "b", "{\n  \"a\": 1\n  // on b\n}"},
		{"twice", `{"a":1,"b":2,"a":3}`, "a", `{"b":2}`},
		{"missing", `{"a":1}`, "x.y", `{"a":1}`},
		{"trailing comma", "{\n  \"a\": 1,\n}", "a", "{}"},
		{"comment before the comma", "{\"a\": 1 /* c */, \"b\": 2}", "a", "{ /* c */ \"b\": 2}"},
	} {
		got, err := Remove([]byte(c.src), strings.Split(c.path, "."))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestArrays(t *testing.T) {
	src := []byte("{\n  \"l\": [\n    1, // one\n    2\n  ]\n}")
	got, err := AppendToArray(src, []string{"l"}, map[string]int{"a": 3})
	if want := "{\n  \"l\": [\n    1, // one\n    2,\n    {\n      \"a\": 3\n    }\n  ]\n}"; err != nil ||
		string(got) != want {
		t.Fatalf("append: %q, %v; want no error and string(got) == want", got, err)
	}
	back, err := RemoveFromArray(got, []string{"l"}, 2)
	if err != nil || !bytes.Equal(back, src) {
		t.Errorf("remove: %q, %v; want no error and back equal to src", back, err)
	}
	if _, err := RemoveFromArray(src, []string{"l"}, 2); err == nil {
		t.Error("an element that is not there was removed")
	}
	if _, err := AppendToArray(src, []string{"l", "0"}, 1); err == nil {
		t.Error("a number was appended to")
	}
	got, err = AppendToArray([]byte(`{"a":1}`), []string{"x", "y"}, 1)
	if err != nil || string(got) != `{"a":1,"x":{"y":[1]}}` {
		t.Errorf("new array: %q, %v; want no error and string(got) == `{\"a\":1,\"x\":{\"y\":[1]}}`", got, err)
	}
	back, err = Prune(got, []string{"x", "y", "0"}, 0)
	if err != nil || string(back) != `{"a":1}` {
		t.Errorf("prune: %q, %v; want no error and string(back) == `{\"a\":1}`", back, err)
	}
	back, _ = Prune(got, []string{"x", "y", "0"}, 1)
	if string(back) != `{"a":1,"x":{}}` {
		t.Errorf("prune but one: %q", back)
	}
}

func TestDocument(t *testing.T) {
	d, err := Parse([]byte("\ufeff{\n // c\n \"a\": {\"b\": [10, 20,],},\n \"a2\": 1 // end\n}//x"))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := d.Where("a", "b"); !ok || p != (Position{3, 8}) {
		t.Errorf("a.b at %v %v", p, ok)
	}
	if p, ok := d.Where("a", "b", "1"); !ok || p != (Position{3, 18}) {
		t.Errorf("a.b.1 at %v %v", p, ok)
	}
	if _, ok := d.Where("x"); ok {
		t.Error("x found; want !ok")
	}
	if keys := d.Keys(); len(keys) != 2 || keys[1] != "a2" {
		t.Errorf(`keys %v; want len(keys) == 2 and keys[1] == "a2"`, keys)
	}
	if raw := d.Raw("a"); string(raw) != `{"b":[10,20]}` {
		t.Errorf("raw %s, want `{\"b\":[10,20]}`", raw)
	}
	if n := d.Len("a", "b"); n != 2 {
		t.Errorf("len %d, want 2", n)
	}
	_, err = Parse([]byte("{\n \"a\": 1\n \"b\": 2\n}"))
	var se *SyntaxError
	if !errors.As(err, &se) || se.Line != 2 || se.Col != 8 || se.Msg != "a comma is missing" {
		t.Errorf("syntax error %v, want a missing comma at the end of line 2", err)
	}
	for text, want := range map[string]string{
		`{"a" 1}`: "line 1, column 5: a colon is missing", `{a: 1}`: "line 1, column 2: a name needs double quotes",
		`{"a": on}`: "line 1, column 7: on isn't a value; a text needs double quotes", `{"a": }`: "line 1, column 6: a value is missing",
		`{"a": 'b'}`: "line 1, column 7: a text needs double quotes", `[1 2]`: "line 1, column 3: a comma is missing",
		`{} x`: "line 1, column 4: 'x' is behind the end",
	} {
		if _, err := Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// extra is white space and comments in nl style.
func extra(t *rapid.T, nl string) string {
	return rapid.SampledFrom([]string{
		"", "", " ", "\t", nl, nl + "  ", nl + "\t", " // c" + nl, nl + "  // c" + nl + "  ", "/* c */", " /* c */ ", nl + nl, nl + "/* c */ ",
	}).Draw(t, "x")
}

func jsonc(t *rapid.T, depth int, nl string) string {
	x := func() string { return extra(t, nl) }
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind = 4
	}
	if depth <= 0 {
		kind = rapid.IntRange(0, 2).Draw(t, "leaf")
	}
	switch kind {
	case 0:
		return "1.50"
	case 1:
		return `"s // no comment, \" {"`
	case 2:
		return "null"
	case 3:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		var b strings.Builder
		b.WriteString("[" + x())
		for i := range n {
			b.WriteString(jsonc(t, depth-1, nl) + x())
			if i < n-1 || rapid.Bool().Draw(t, "trailing") {
				b.WriteString("," + x())
			}
		}
		return b.String() + "]"
	}
	return object(t, depth, nl)
}

func object(t *rapid.T, depth int, nl string) string {
	x := func() string { return extra(t, nl) }
	n := rapid.IntRange(0, 3).Draw(t, "n")
	var b strings.Builder
	b.WriteString("{" + x())
	for i := range n {
		b.WriteString(`"` + string(rune('a'+i)) + `"` + x() + ":" + x() + jsonc(t, depth-1, nl) + x())
		if i < n-1 || rapid.Bool().Draw(t, "trailing") {
			b.WriteString("," + x())
		}
	}
	return b.String() + "}"
}

func document(t *rapid.T) []byte {
	nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "nl")
	return []byte(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") +
		extra(t, nl) + object(t, 3, nl) + extra(t, nl))
}

func comments(b []byte) int {
	return bytes.Count(b, []byte("// c")) + bytes.Count(b, []byte("/* c */"))
}

// paths returns those of every object and array of a text.
func paths(d *Document, at []string) (objects, arrays [][]string) {
	visit := func(steps []string) {
		for _, s := range steps {
			o, a := paths(d, append(append([]string{}, at...), s))
			objects, arrays = append(objects, o...), append(arrays, a...)
		}
	}
	if n := d.Len(at...); n >= 0 {
		arrays = append(arrays, at)
		for i := range n {
			visit([]string{string(rune('0' + i))})
		}
	} else if raw := d.Raw(at...); raw[0] == '{' {
		objects = append(objects, at)
		visit(d.Keys(at...))
	}
	return objects, arrays
}

func TestInAndOutAgainIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := document(t)
		d, err := Parse(src)
		if err != nil {
			t.Fatalf("%q: error %v, want no error", src, err)
		}
		objects, arrays := paths(d, nil)
		value := rapid.SampledFrom([]any{1, "x", []any{}, map[string]any{"k": []any{1, map[string]any{"l": 2}}}}).Draw(
			t, "value")

		at := append(append([]string{}, rapid.SampledFrom(objects).Draw(t, "object")...), "new")
		in, err := Set(src, at, value)
		if err != nil {
			t.Fatalf("set %v in %q: %v", at, src, err)
		}
		if comments(in) != comments(src) {
			t.Fatalf("set %v lost a comment: %q → %q", at, src, in)
		}
		out, err := Remove(in, at)
		if err != nil || !bytes.Equal(out, src) {
			t.Fatalf("set and remove %v: %q → %q → %q, %v", at, src, in, out, err)
		}
		deep := append(append([]string{}, at...), "deeper", "still")
		if in, err = Set(src, deep, value); err != nil {
			t.Fatal(err)
		}
		if out, err = Prune(in, deep, len(at)-1); err != nil || !bytes.Equal(out, src) {
			t.Fatalf("set and prune %v: %q → %q → %q, %v", deep, src, in, out, err)
		}
		if len(arrays) == 0 {
			return
		}
		list := rapid.SampledFrom(arrays).Draw(t, "array")
		if in, err = AppendToArray(src, list, value); err != nil {
			t.Fatalf("append to %v of %q: %v", list, src, err)
		}
		if out, err = RemoveFromArray(in, list, d.Len(list...)); err != nil || !bytes.Equal(out, src) {
			t.Fatalf("append and remove %v: %q → %q → %q, %v", list, src, in, out, err)
		}
	})
}

func TestEveryMemberCanBeRemovedOrReplaced(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := document(t)
		d, _ := Parse(src)
		objects, arrays := paths(d, nil)
		var all [][]string
		for _, o := range objects {
			for _, k := range d.Keys(o...) {
				all = append(all, append(append([]string{}, o...), k))
			}
		}
		for _, a := range arrays {
			for i := range d.Len(a...) {
				all = append(all, append(append([]string{}, a...), string(rune('0'+i))))
			}
		}
		if len(all) == 0 {
			return
		}
		at := rapid.SampledFrom(all).Draw(t, "path")
		if _, err := Remove(src, at); err != nil {
			t.Fatalf("remove %v of %q: %v", at, src, err)
		}
		if _, err := Set(src, at, json.RawMessage(`{"z":[1, {"y":2}]}`)); err != nil {
			t.Fatalf("set %v of %q: %v", at, src, err)
		}
	})
}

func FuzzSetRemove(f *testing.F) {
	f.Add([]byte("{\"a\": [1, 2,], // x\n}"))
	f.Add([]byte("\ufeff{\r\n}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if d, err := Parse(src); err != nil || d.Raw()[0] != '{' || d.Raw("\x00new") != nil {
			return
		}
		in, err := Set(src, []string{"\x00new"}, 1)
		if err != nil {
			return
		}
		if out, err := Remove(in, []string{"\x00new"}); err != nil || !bytes.Equal(out, src) {
			t.Fatalf("src = %q, in = %q, out = %q, error %v; want no error and out = %q", src, in, out, err, src)
		}
	})
}
