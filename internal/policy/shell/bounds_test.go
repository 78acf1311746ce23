package shell

import (
	"strings"
	"testing"
)

// hostileSize is the length of the inputs below. Longer ones cost more of the same.
const hostileSize = 64 << 10

// hostileInputs are made to cost as much as possible.
func hostileInputs() map[string]string {
	fill := func(s string) string { return strings.Repeat(s, hostileSize/len(s)) }
	quoted := "true"
	for len(quoted) < hostileSize/3 {
		quoted = "sh -c '" + strings.ReplaceAll(quoted, "'", `'\''`) + "'"
	}
	nest := func(open, middle, end string) string {
		n := (hostileSize - len(middle)) / (len(open) + len(end))
		return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	return map[string]string{
		"parens": fill("("), "subst": fill("$("), "backticks": fill("`"), "quoted subst": fill(`"$(`),
		"balanced parens": nest("(", "a", ")"), "balanced subst": nest("$(", "a", ")"), "arith": fill("$(("),
		"proc":   fill("<("),
		"braces": fill("{a,b}"), "brace nest": nest("{a,", "b", "}"), "sequence": fill("{1..99999999} "),
		"pipes": fill("a|") + "b", "ands": fill("a&&") + "b", "ifs": fill("if "), "whiles": fill("while a; do "),
		"nots":  fill("! "),
		"times": fill("time "), "heredocs": fill("<<a "), "heredocs done": fill("cat <<a\na\n"), "sudo": fill("sudo "),
		"eval": fill("eval "), "envs": fill("env X=1 "),
		"loops": fill("for i in a b c d; do ") + "x", "loops done": nest("for i in a b c d; do ", "x", "; done"),
		"functions":      "f(){ f; f; };" + fill("f;"),
		"many functions": fill("f(){ g; g; };g(){ f; };"), "doubling": "x=aaaa;" + fill("x=$x$x;") + "$x",
		"params": fill("${a:-"), "params done": nest("${a:-", "b", "}"),
		"cases": fill("case a in "), "tests": fill("[[ "), "escapes": fill(`\`), "nul": fill("\x00"), "newlines": fill("\n"),
		"words": fill("a "), "one word": fill("a"),
		"assigns": fill("a=1 "), "quotes": fill(`'"`), "high bytes": fill("\xff\xfe"), "nested sh": quoted,
		"finds": fill("find . -exec "), "xargs": fill("xargs "),
		"cds": fill("cd a;"), "redirects": fill("a>b "), "globs": fill("*?[a]"), "blocks": nest("{ ", "a;", "};"),
		"dblquote": fill(`"a`), "strings": "python -c 'system(" + fill(`"a",`) + "'",
		"shells": fill("bash -c "), "parallel": "parallel a ::: " + fill("b "),
		"base64": fill("echo YQ== | base64 -d |") + "sh", "deep pipes": fill("echo a | rev |") + "sh",
	}
}

func TestHostileInputIsBounded(t *testing.T) {
	for name, src := range hostileInputs() {
		if len(src) > hostileSize {
			src = src[:hostileSize]
		}
		s := Parse(src)
		if len(s.Runs) > maxRuns || s.Steps > 4*maxSteps {
			t.Errorf("%s: %d runs, %d steps; at most %d and %d are allowed", name, len(s.Runs), s.Steps, maxRuns,
				4*maxSteps)
		}
	}
}

func TestTooLong(t *testing.T) {
	words := func(n int) string { return strings.Repeat("a ", n/2) }
	for _, tt := range []struct {
		name, src string
		long      bool
	}{
		{"one word of the usual bound", strings.Repeat("a", MaxSource), false},
		{"many words up to the usual bound", words(MaxSource), false},
		{"one long word", strings.Repeat("a", MaxSource+1), false},
		{"the longest word", strings.Repeat("a", MaxLong), false},
		{"longer than the longest word", strings.Repeat("a", MaxLong+1), true},
		{"too many words", strings.Repeat("a", MaxSource) + strings.Repeat(";", maxSteps+1), true},
		{"just enough words", strings.Repeat("a", MaxSource) + strings.Repeat(";", maxSteps), false},
	} {
		if got := IsTooLong(tt.src); got != tt.long {
			t.Errorf("%s: too long is %v, want %v", tt.name, got, tt.long)
		}
	}
	if s := Parse(strings.Repeat("a", MaxSource+1)); s.TooLong || len(s.Runs) != 1 {
		t.Errorf("one long word: too long %v, %d runs; want one run", s.TooLong, len(s.Runs))
	}
	if s := Parse(strings.Repeat("a", MaxLong+1)); !s.TooLong || len(s.Runs) != 0 || s.Readable() {
		t.Errorf("beyond the limit: too long %v, %d runs, readable %v", s.TooLong, len(s.Runs), s.Readable())
	}
}

// Operators on long values cost a multiple of their text: a script may use only so
// many, and is not fully read beyond.
func TestOperatorsAreBounded(t *testing.T) {
	long := "a=" + strings.Repeat("x", 4000) + ";" + strings.Repeat("rm ${a//x/y};", 1000)
	if s := Parse(long); !s.Truncated {
		t.Errorf("1000 operators on 4000 bytes: want a script that is not fully read, got %d runs", len(s.Runs))
	}
	short := "a=" + strings.Repeat("x", 40) + ";" + strings.Repeat("rm ${a//x/y};", 100)
	if s := Parse(short); s.Truncated || len(s.Runs) != 101 {
		t.Errorf("100 operators on 40 bytes: want 101 runs, got %d, truncated %t", len(s.Runs), s.Truncated)
	}
}
