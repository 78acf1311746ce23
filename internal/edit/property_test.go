package edit

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sayHowMany says how many documents the properties are tried on: always the same
// ones in a plain test run, many and new ones with HOOKMUX_LONG=1. Twenty thousand
// more of each format go through these editors where hookmux is installed.
func sayHowMany() {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set := func(name, value string) {
		if !given[name] {
			flag.Set(name, value)
		}
	}
	set("rapid.nofailfile", "true")
	debug.SetGCPercent(400) // many small texts: most of the time would go there
	switch {
	case os.Getenv("HOOKMUX_LONG") == "1":
		set("rapid.checks", "100000")
	case testing.Short():
		set("rapid.checks", "2500") // rapid itself takes a fifth of them
		set("rapid.seed", "1")
	default:
		set("rapid.checks", "10000")
		set("rapid.seed", "1")
	}
}

// mutated returns a real text with a few lines changed at random; not all of them
// still mean something.
func mutated(t *rapid.T, texts [][]byte, comment string) []byte {
	lines := strings.SplitAfter(string(rapid.SampledFrom(texts).Draw(t, "sample")), "\n")
	for range rapid.IntRange(0, 3).Draw(t, "mutations") {
		i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
		switch rapid.IntRange(0, 5).Draw(t, "mutation") {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, i, comment+" c\n")
		case 2:
			lines = slices.Insert(lines, i, "\n")
		case 3:
			lines = lines[:i+1]
		case 4:
			lines = lines[i:]
		case 5:
			lines[i] = strings.TrimSuffix(lines[i], "\n") + " " + comment + " c\n"
		}
		if len(lines) == 0 {
			lines = []string{""}
		}
	}
	text := strings.Join(lines, "")
	if rapid.IntRange(0, 3).Draw(t, "open") == 0 {
		text = strings.TrimRight(text, "\n")
	}
	if rapid.IntRange(0, 3).Draw(t, "crlf") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if rapid.IntRange(0, 7).Draw(t, "bom") == 0 {
		text = "\ufeff" + text
	}
	return []byte(text)
}

// places returns the paths of all maps and lists of a text.
func places(root any, at []string) (maps, lists [][]string) {
	add := func(step string, v any) {
		m, l := places(v, append(slices.Clone(at), step))
		maps, lists = append(maps, m...), append(lists, l...)
	}
	switch c := root.(type) {
	case map[string]any:
		maps = append(maps, at)
		keys := make([]string, 0, len(c))
		for k := range c {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			add(k, c[k])
		}
	case []any:
		lists = append(lists, at)
		for i, v := range c {
			add(itoa(i), v)
		}
	}
	return maps, lists
}

// change is one thing an installer does.
type change struct {
	path  []string // of what is added
	list  []string // the list it is appended to; nil when it is set
	value any
	depth int // how much of the path was there before
}

func (c change) do(f Format, src []byte) ([]byte, error) {
	if c.list != nil {
		return f.Append(src, c.list, c.value)
	}
	return f.Set(src, c.path, c.value)
}

var ours = []any{
	1, true, "x", "sh -c 'true' \"$1\" # é", []any{}, map[string]any{}, []string{"a", "b"},
	hook{"/opt/hookmux/hook claude PreToolUse", 5},
	map[string]any{"matcher": "*", "hooks": []any{hook{"c", 0}}},
	[]any{hook{"c", 1}, hook{"d", 2}},
}

func drawChange(t *rapid.T, d Reader) change {
	var root any
	_ = json.Unmarshal(d.Raw(), &root)
	maps, lists := places(root, []string{})
	if root == nil {
		maps = [][]string{{}}
	}
	c := change{value: rapid.SampledFrom(ours).Draw(t, "value")}
	kind := rapid.IntRange(0, 3).Draw(t, "change")
	switch {
	case kind == 0 && len(lists) > 0:
		c.list = rapid.SampledFrom(lists).Draw(t, "list")
		if bytes.HasPrefix(d.Raw(append(slices.Clone(c.list), "0")...), []byte("{")) {
			c.value = hook{"beside maps", 1} // what TOML writes as tables takes nothing else
		}
	case len(maps) == 0:
		return c
	case kind == 1:
		c.list = append(slices.Clone(rapid.SampledFrom(maps).Draw(t, "map")), "our.hooks", "on Stop")
	case kind == 2:
		c.path = append(slices.Clone(rapid.SampledFrom(maps).Draw(t, "map")), "ours", "deep", "er")
	default:
		c.path = append(slices.Clone(rapid.SampledFrom(maps).Draw(t, "map")), "ours")
	}
	if c.list != nil {
		c.path = append(slices.Clone(c.list), itoa(max(0, d.Len(c.list...))))
	}
	c.depth = d.Depth(c.path...)
	return c
}

// guestProperty checks everything that must hold of one text and one change. It
// reports whether the change was possible.
func guestProperty(t *rapid.T, f Format, d Reader, src []byte, comment string) bool {
	c := drawChange(t, d)
	if c.path == nil {
		return true
	}
	in, err := c.do(f, src)
	if err != nil {
		return false
	}
	out, err := f.Prune(in, c.path, c.depth)
	if err != nil || !bytes.Equal(out, src) {
		t.Fatalf("%v in and out again: %q → %q → %q, %v", c.path, src, in, out, err)
	}
	switch then := rapid.IntRange(0, 4).Draw(t, "then"); {
	case then == 0:
		return removedOrReplaced(t, f, d, src)
	case then < 3:
		userEdit(t, f, c, src, in, comment)
	case c.list != nil:
		oneBehind(t, f, c, d.Len(c.list...), src, in)
	default:
		if again, err := f.Set(in, c.path, c.value); err != nil || !bytes.Equal(again, in) {
			t.Fatalf("%v twice: %q → %q → %q, %v; want no error and again equal to in",
				c.path, src, in, again, err)
		}
	}
	return true
}

// removedOrReplaced takes out, or overwrites, anything that is there. What it
// means afterwards is checked by the format itself.
func removedOrReplaced(t *rapid.T, f Format, d Reader, src []byte) bool {
	var root any
	_ = json.Unmarshal(d.Raw(), &root)
	maps, lists := places(root, []string{})
	var all [][]string
	for _, m := range maps {
		for _, k := range d.Keys(m...) {
			all = append(all, append(slices.Clone(m), k))
		}
	}
	for _, l := range lists {
		for i := range d.Len(l...) {
			all = append(all, append(slices.Clone(l), itoa(i)))
		}
	}
	if len(all) == 0 {
		return true
	}
	at := rapid.SampledFrom(all).Draw(t, "there")
	if rapid.Bool().Draw(t, "replaced") {
		_, err := f.Set(src, at, rapid.SampledFrom(ours).Draw(t, "by"))
		return err == nil || strings.Contains(err.Error(), "written as a table")
	}
	out, err := f.Remove(src, at)
	if err != nil {
		return false
	}
	if lost := bytes.Count(src, []byte("\n")) - bytes.Count(out, []byte("\n")); lost < 0 {
		t.Fatalf("%v removed: %q → %q; want lost >= 0", at, src, out)
	}
	return true
}

// oneBehind lets the user add one behind ours: when ours goes, what remains is
// as if ours had never been there. In a list that had nothing in it, theirs
// stays as it was written beside ours.
func oneBehind(t *rapid.T, f Format, c change, had int, src, in []byte) {
	both, err := f.Append(in, c.list, theirs)
	if err != nil {
		return
	}
	left, err := f.Prune(both, c.path, c.depth)
	if err != nil {
		t.Fatalf("%v with one behind it: %q → %q, %v", c.path, src, both, err)
	}
	alone, err := f.Append(src, c.list, theirs)
	if err != nil {
		return
	}
	if had < 1 {
		left, alone = meaningOf(t, f, left), meaningOf(t, f, alone)
	}
	if !bytes.Equal(left, alone) {
		t.Fatalf("%v with one behind it: %q → %q → %q; want %q", c.path, src, both, left, alone)
	}
}

var theirs = hook{"theirs", 0}

func meaningOf(t *rapid.T, f Format, src []byte) []byte {
	d, err := f.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return d.Raw()
}

// userEdit writes a line somewhere outside of what was added, with and without
// ours being there; taking ours out must make the two alike.
func userEdit(t *rapid.T, f Format, c change, src, in []byte, comment string) {
	head, tail := 0, 0
	for head < min(len(src), len(in)) && src[head] == in[head] {
		head++
	}
	for tail < min(len(src), len(in))-head && src[len(src)-1-tail] == in[len(in)-1-tail] {
		tail++
	}
	line := rapid.SampledFrom([]string{comment + " theirs\n", "\n"}).Draw(t, "line")
	at := rapid.IntRange(0, len(src)).Draw(t, "at")
	at = bytes.LastIndexByte(src[:at], '\n') + 1
	var withOurs, without []byte
	switch {
	case at <= bytes.LastIndexByte(src[:head], '\n'):
		withOurs = slices.Concat(in[:at], []byte(line), in[at:])
	case at > len(src)-tail:
		mid := len(in) - (len(src) - at)
		withOurs = slices.Concat(in[:mid], []byte(line), in[mid:])
	default:
		return
	}
	without = slices.Concat(src[:at], []byte(line), src[at:])
	if bytes.HasPrefix(src, byteOrderMark) && at == 0 {
		return
	}
	a, err := f.Parse(without)
	if err != nil {
		return
	}
	b, err := f.Parse(withOurs)
	if err != nil || c.list != nil && a.Len(c.list...)+1 != b.Len(c.list...) && a.Len(c.list...) >= 0 {
		return
	}
	left, err := f.Prune(withOurs, c.path, c.depth)
	if err != nil || !bytes.Equal(left, without) {
		t.Fatalf("%v with an edit: %q → %q → %q, %v; want %q", c.path, in, withOurs, left, err, without)
	}
}

func runProperty(t *testing.T, f Format, comment string, random func(*rapid.T) []byte) {
	texts := samples(t)[f]
	var tried, refused, unread int
	rapid.Check(t, func(t *rapid.T) {
		var src []byte
		fromSample := rapid.IntRange(0, 9).Draw(t, "from a sample") == 0
		if fromSample {
			src = mutated(t, texts, comment)
		} else {
			src = random(t)
		}
		tried++
		switch d, err := f.Parse(src); {
		case err == nil:
			if !guestProperty(t, f, d, src, comment) {
				refused++
			}
		case !fromSample:
			unread++
		}
	})
	if refused*25 > tried { // aliases, for the most part
		t.Errorf("%d of %d changes were refused", refused, tried)
	}
	if unread*100 > tried {
		t.Errorf("%d of %d valid documents were not understood", unread, tried)
	}
	t.Logf("%d documents, %d refused", tried, refused)
}

func TestGoodGuestInJSON(t *testing.T) { t.Parallel(); runProperty(t, JSON, "//", document) }
func TestGoodGuestInYAML(t *testing.T) { t.Parallel(); runProperty(t, YAML, "#", yamlDocument) }
func TestGoodGuestInTOML(t *testing.T) { t.Parallel(); runProperty(t, TOML, "#", tomlDocument) }

// FuzzFormats wants no panic, and no change that cannot be undone.
func FuzzFormats(f *testing.F) {
	for _, text := range []string{"a: 1\n- b", "a: &x\n  b: *x\n", "a: |+\n\n", "? a\n: b", "a = {b.c = 1}\n[[x]]\n",
		"a = '''\n'''\n", "{\"a\": [,]}", "\ufeff"} {
		f.Add([]byte(text))
	}
	for _, texts := range samples(f) {
		for _, text := range texts {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, format := range []Format{JSON, YAML, TOML} {
			d, err := format.Parse(src)
			if err != nil {
				continue
			}
			d.Where("a", "0")
			d.Keys("a")
			at := []string{"hookmux new", "0"}
			if d.Depth(at...) > 0 {
				continue
			}
			in, err := format.Append(src, at[:1], hook{"c", 1})
			if err != nil {
				continue
			}
			out, err := format.Prune(in, at, 0)
			if err != nil || !bytes.Equal(out, src) {
				t.Fatalf("%T: src = %q, in = %q, out = %q, error %v; want no error and out = %q",
					format, src, in, out, err, src)
			}
			for _, key := range d.Keys() {
				format.Remove(src, []string{key})
				format.Set(src, []string{key, "x"}, 1)
				format.Set(src, []string{key}, []any{1, hook{"c", 1}})
			}
		}
	})
}
