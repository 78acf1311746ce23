package edit

import (
	"errors"
	"strings"
	"testing"
)

// hook is an entry of ours, in the order it should be written.
type hook struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

func split(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

func TestYAMLSet(t *testing.T) {
	for _, c := range []struct {
		name, src, path string
		value           any
		want            string
	}{
		{"empty text", "", "a", 1, "a: 1\n"},
		{"only a comment", "# mine", "a.b", 1, "# mine\na:\n  b: 1"},
		{"document start", "---\n# top\n", "a", 1, "---\n# top\na: 1\n"},
		{"document end", "---\na: 1\n...\n", "b", 2, "---\na: 1\nb: 2\n...\n"},
		{"last line open", "a: 1", "b", 2, "a: 1\nb: 2"},
		{"last line open, comment", "a: 1 # c", "b", 2, "a: 1 # c\nb: 2"},
		{"carriage returns and mark", "\ufeffa:\r\n    b: 1\r\n", "a.c.d", "x", "\ufeffa:\r\n    b: 1\r\n    c:\r\n        d: x\r\n"},
		{"before trailing comment", "a:\n  b: 1\n# about c\nc: 2\n", "a.d", 3, "a:\n  b: 1\n  d: 3\n# about c\nc: 2\n"},
		{"behind a literal", "a:\n  b: |\n    t\n\n\nc: 1\n", "a.d", 3, "a:\n  b: |\n    t\n  d: 3\n\n\nc: 1\n"},
		{"behind a kept literal", "a:\n  b: |+\n    t\n\n\nc: 1\n", "a.d", 3, "a:\n  b: |+\n    t\n\n\n  d: 3\nc: 1\n"},
		{"behind lines of plain text", "a: one\n  two\nb: \"x\n  y\"\n", "c", 1, "a: one\n  two\nb: \"x\n  y\"\nc: 1\n"},
		{"key without value", "hooks: # none yet\nb: 1\n", "hooks.a", 1, "hooks: # none yet\n  a: 1\nb: 1\n"},
		{"inline empty", "hooks: {} # none\n", "hooks.a", []hook{{"x y", 5}}, "hooks: {a: [{command: x y, timeout: 5}]} # none\n"},
		{"flow", "hooks: {a: 1}\n", "hooks.b", "yes", "hooks: {a: 1, b: \"yes\"}\n"},
		{"flow over lines", "h: {\n  a: 1, # one\n  b: 2\n}\n", "h.c", 3, "h: {\n  a: 1, # one\n  b: 2,\n  c: 3\n}\n"},
		{"compact element", "l:\n- a: 1\n  b: 2\n", "l.0.c", 3, "l:\n- a: 1\n  b: 2\n  c: 3\n"},
		{"zero-indented lists elsewhere", "l:\n- a\nm:\n", "m.x", []int{1}, "l:\n- a\nm:\n  x:\n  - 1\n"},
		{"quoted key", "\"hooks\":\n  'x y': 1\n", "hooks.x y", 2, "\"hooks\":\n  'x y': 2\n"},
		{"replace keeps comment", "a: 1 # one\n", "a", "two: #2", "a: \"two: #2\" # one\n"},
		{"replace literal", "a: |\n  x\n  y\nb: 1\n", "a", 2, "a: 2\nb: 1\n"},
		{"replace block", "a:\n  - 1\n  - 2\nb: 1\n", "a", []string{"x"}, "a:\n  - x\nb: 1\n"},
		{"replace nothing", "a:\nb: 1\n", "a", 2, "a: 2\nb: 1\n"},
		{"replace scalar by block", "a: 1\nb: 2\n", "a", map[string]int{"c": 3}, "a:\n  c: 3\nb: 2\n"},
		{"same value", "a: 'x'  # c\n", "a", "x", "a: 'x'  # c\n"},
		{"strings that look like others", "", "a", []string{"no", "1.5", "", "- x", "2024-01-01", "a\x7f\n", "x: y", "*", "é"}, "a:\n  - \"no\"\n  - \"1.5\"\n  - \"\"\n  - \"- x\"\n  - \"2024-01-01\"\n  - \"a\\u007f\\n\"\n  - \"x: y\"\n  - \"*\"\n  - \"é\"\n"},
		{"marks elsewhere", "a: &x {b: 1}\nc: *x\nd: !!str 5\n", "e", 1, "a: &x {b: 1}\nc: *x\nd: !!str 5\ne: 1\n"},
	} {
		got, err := YAML.Set([]byte(c.src), split(c.path), c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestYAMLAppend(t *testing.T) {
	for _, c := range []struct{ name, src, path, want string }{
		{"missing", "a: 1\n", "h.e", "a: 1\nh:\n  e:\n    - command: c\n"},
		{"zero-indented", "h:\n  e:\n  - command: x\nz: 1\n", "h.e", "h:\n  e:\n  - command: x\n  - command: c\nz: 1\n"},
		{"four", "h:\n    e:\n        - command: x\n", "h.e", "h:\n    e:\n        - command: x\n        - command: c\n"},
		{"empty", "h:\n  e: []\n", "h.e", "h:\n  e: [{command: c}]\n"},
		{"wide empty", "h:\n  e: [ ]\n", "h.e", "h:\n  e: [ {command: c}]\n"},
		{"flow", "h: {e: [a, b]}\n", "h.e", "h: {e: [a, b, {command: c}]}\n"},
		{"flow over lines", "h:\n  e: [\n    a,   # x\n  ]\n", "h.e", "h:\n  e: [\n    a,   # x\n    {command: c},\n  ]\n"},
		{"key without value", "h:\n  e:\nz: 1\n", "h.e", "h:\n  e:\n    - command: c\nz: 1\n"},
		{"root list", "- a\n", "", "- a\n- command: c\n"},
		{"lists in lists", "e:\n  - - a\n    - b\n", "e.0", "e:\n  - - a\n    - b\n    - command: c\n"},
	} {
		in, err := YAML.Append([]byte(c.src), split(c.path), hook{Command: "c"})
		if err != nil || string(in) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, in, err, c.want)
			continue
		}
		before, _ := YAML.Parse([]byte(c.src))
		after, _ := YAML.Parse(in)
		last := append(split(c.path), itoa(after.Len(split(c.path)...)-1))
		out, err := YAML.Prune(in, last, before.Depth(last...))
		if err != nil || string(out) != c.src {
			t.Errorf("%s: back to %q, %v; want %q", c.name, out, err, c.src)
		}
	}
}

func TestYAMLRemove(t *testing.T) {
	for _, c := range []struct{ name, src, path, want string }{
		{"line", "a: 1\nb: 2\nc: 3\n", "b", "a: 1\nc: 3\n"},
		{"last open line", "a: 1\nb: 2", "b", "a: 1"},
		{"comment behind stays", "a: 1\nb: 2 # on b\n", "b", "a: 1\n# on b\n"},
		{"comment above stays", "# on b\nb: 2\n", "b", "# on b\n"},
		{"block", "a:\n  b:\n    - 1\n    # c\n    - 2\nd: 1\n", "a.b", "a:\nd: 1\n"},
		{"first of an element", "- a: 1\n  b: 2\n", "0.a", "- b: 2\n"},
		{"first of an element, comment", "- a: 1\n  # c\n  b: 2\n", "0.a", "- \n  # c\n  b: 2\n"},
		{"flow", "a: {b: 1, c: 2}\n", "a.b", "a: {c: 2}\n"},
		{"missing", "a: 1\n", "x.y", "a: 1\n"},
		{"middle element", "l:\n- 1\n- 2\n- 3\n", "l.1", "l:\n- 1\n- 3\n"},
	} {
		got, err := YAML.Remove([]byte(c.src), split(c.path))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestYAMLRefuses(t *testing.T) {
	for _, c := range []struct{ name, src, path, part string }{
		{"inside an alias", "a: &x\n  b: 1\nc: *x\n", "c.d", "is the alias *x"},
		{"inside what an alias repeats", "a: &x\n  b: 1\nc: *x\n", "a.d", "repeated elsewhere as *x"},
		{"over a merge", "a: &x\n  b: {q: 1}\nc:\n  <<: *x\n", "c.b.d", "something other than meant"},
		{"several documents", "a: 1\n---\nb: 1\n", "x", "several documents"},
		{"dangling alias", "a: *x\n", "x", "refers to nothing"},
		{"scalar", "a: 1\n", "a.b", "not a mapping"},
		{"explicit null", "a: null\n", "a.b", "not a mapping"},
		{"key twice", "a: 1\na: 2\n", "b", "already defined"},
		{"broken", "a: [1\n", "b", "line 1"},
		{"tab", "a:\n\tb: 1\n", "b", "line 2"},
		{"too deep", strings.Repeat("[", 100000), "a", "nested deeper"},
		{"too deep, dashes", strings.Repeat("- ", 100000), "a", "nested deeper"},
		{"bare carriage return", "a: 1\rb: 2\n", "c", "carriage return"},
		{"literal at the open end", "a: |\n  x", "b", "something other than meant"},
	} {
		got, err := YAML.Set([]byte(c.src), split(c.path), 1)
		if err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.part)
		}
	}
	if _, err := YAML.Remove([]byte("a: &x 1\nb: *x\n"), []string{"a"}); err == nil {
		t.Error("an anchor was removed under its alias")
	}
}

func TestYAMLReader(t *testing.T) {
	d, err := YAML.Parse([]byte("\ufeffa: &x\r\n  b: [1, 2.50]\r\nc:\r\n  <<: *x\r\n  'd e': !!str 5\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := d.Where("c", "d e"); !ok || p != (Position{5, 3}) {
		t.Errorf("c.'d e' at %v %v", p, ok)
	}
	if p, ok := d.Where("a", "b", "1"); !ok || p != (Position{2, 10}) {
		t.Errorf("a.b.1 at %v %v", p, ok)
	}
	if raw := d.Raw("c", "b"); string(raw) != "[1,2.5]" {
		t.Errorf(`merged: %s, want "[1,2.5]"`, raw)
	}
	if n := d.Depth("a", "b", "7"); n != 2 {
		t.Errorf("depth %d, want 2", n)
	}
	if keys := d.Keys("c"); len(keys) != 2 || keys[1] != "d e" {
		t.Errorf(`keys %v; want len(keys) == 2 and keys[1] == "d e"`, keys)
	}
	var s string
	if err := d.Decode(&s, "nowhere"); err == nil {
		t.Error("decoded nothing; want an error")
	}
	_, err = YAML.Parse([]byte("a: 1\nb: [\n"))
	var se *SyntaxError
	if !errors.As(err, &se) || se.Line != 2 {
		t.Errorf("syntax error %v; want errors.As(err, &se) and se.Line == 2", err)
	}
}
