package termsafe

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":              "",
		"plain\ttext\n": "plain\ttext\n",
		"Ünïcödé 漢字 — “quotes” 😀 ❤️ ✔︎": "Ünïcödé 漢字 — “quotes” 😀 ❤️ ✔︎",
		"\x1b[31mred\x1b[0m":          `\x1b[31mred\x1b[0m`,
		"\x1b]52;c;AAAA\a":            `\x1b]52;c;AAAA\x07`,
		"a\x00b\x7fc":                 `a\x00b\x7fc`,
		"a\u0085\u009bb":              `a\u0085\u009bb`,
		"a\x9bb\xff":                  `a\x9bb\xff`,
		"line\r\nnext\rover":          "line\nnext" + `\x0dover`,
		"\u202egnp.exe\u202c":         `\u202egnp.exe\u202c`,
		"\u2066a\u2069\u200e\u061c":   `\u2066a\u2069\u200e\u061c`,
		"zero\u200bwidth\u200d\ufeff": `zero\u200bwidth\u200d\ufeff`,
		"soft\u00adhyphen":            `soft\u00adhyphen`,
		"sep\u2028\u2029":             `sep\u2028\u2029`,
		"tag\U000e0041\U000e007f":     `tag\U000e0041\U000e007f`,
		"a\ufe0f1\ufe0f❤️\ufe0f":      `a\ufe0f1\ufe0f` + "❤️" + `\ufe0f`,
		"x\ufe00\U000e0100":           `x\ufe00\U000e0100`,
		"\u3164\uffa0\u115f\u2800":    `\u3164\uffa0\u115f\u2800`,
		"\xed\xa0\x80":                `\xed\xa0\x80`,
		"half \xf0\x9f":               `half \xf0\x9f`,
		"real \ufffd stays":           "real \ufffd stays",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 10, ""},
		{"short", 10, "short"},
		{"exactly-10", 10, "exactly-10"},
		{"eleven-char", 10, "eleven-ch…"},
		{"a\nb\r\nc\td\n\n", 0, "a⏎b⏎c d"},
		{"\nlead", 0, "⏎lead"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"日本語", 1, "…"},
		{"a\x1bb", 6, `a\x1bb`},
		{"a\x1bb", 5, `a…`},
		{"é e\u0301e\u0301e\u0301", 5, "é e\u0301e\u0301e\u0301"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"❤️❤️", 4, "❤️❤️"},
		{"❤️❤️", 3, "❤️…"},
		{"😀😀", 3, "😀…"},
		{"abc", -1, "abc"},
	} {
		if got := Line(c.in, c.width); got != c.want {
			t.Errorf("Line(%q, %d)\n got %q\nwant %q", c.in, c.width, got, c.want)
		}
	}
}

func TestCleanTextDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("clean text, with ümlauts and 漢字\n", 10)
	if n := testing.AllocsPerRun(20, func() {
		Text(s)
		Line("one clean line", 80)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestWideIsSorted(t *testing.T) {
	last := rune(0)
	for _, r := range wide {
		if r[0] <= last || r[1] < r[0] {
			t.Errorf("%x is out of order", r)
		}
		last = r[1]
	}
}

// check holds for everything that comes out.
func check(t *testing.T, in, out string, line bool) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Fatalf("%q -> %q: not valid UTF-8", in, out)
	}
	prev := rune(0)
	for _, r := range out {
		selector := (r == 0xfe0f || r == 0xfe0e) && isSymbol(prev)
		if Dangerous(r) && !selector || line && (r == '\n' || r == '\t') {
			t.Fatalf("%q -> %q: %U is left; want !Dangerous(r) or selector and !line or (r != '\\n' and r != "+
				"'\\t')", in, out, r)
		}
		prev = r
	}
}

// FuzzVisible also has its own list of what must never get through, so that a
// slip in Dangerous shows.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\x1b[0m", "\u202e", "❤️", "\xff\r\n\r", "日本\ufe0f", "\U000e0001",
		"1\ufe0f\u20e3"} {
		f.Add(s, 5)
	}
	const never = "\x00\x07\x08\x0b\x0c\r\x1b\x7f\u0080\u009b\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e" +
		"\u2060\u2066\u2067\u2068\u2069\ufeff\ufff9\U000e0001\U000e0020\U000e0041\U000e007f"
	f.Fuzz(func(t *testing.T, s string, width int) {
		text := Text(s)
		check(t, s, text, false)
		line := Line(s, width)
		check(t, s, line, true)
		if strings.ContainsAny(text, never) || strings.ContainsAny(line, never) {
			t.Fatalf("s = %q, text = %q, line = %q; want not strings.ContainsAny(text, never) and not "+
				"strings.ContainsAny(line, never)", s, text, line)
		}
		if Text(text) != text {
			t.Fatalf("not stable: %q -> %q; want Text(text) == text", text, Text(text))
		}
		if width > 0 && Width(line) > width {
			t.Fatalf("Line(%q, %d) = %q takes %d; want width <= 0 or Width(line) <= width",
				s, width, line, Width(line))
		}
		if again := Line(line, width); again != line {
			t.Fatalf("not stable: %q -> %q; want again == line", line, again)
		}
	})
}
