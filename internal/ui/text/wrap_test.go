package text

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

func TestWrapMarked(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{
		{"short", 20, "short"},
		{"", 20, ""},
		{"only there can it be answered", 20, "only there can it be|↪ answered"},
		{"only there can it be answered", 21, "only there can it be |↪ answered"},
		{"  $ " + strings.Repeat("x", 30), 20, "  $ " + strings.Repeat("x", 15) + "¬|↪ " + strings.Repeat("x", 15)},
		{"a " + strings.Repeat("b", 40) + " c", 20, "a " + strings.Repeat("b", 17) + "¬|↪ " +
			strings.Repeat("b", 17) + "¬|↪ " + strings.Repeat("b", 6) + " c"},
		{"echo ok" + strings.Repeat(" ", 20) + "; rm x", 12,
			"echo ok     |↪           |↪      ; rm |↪ x"},
		{"漢字漢字漢字漢字", 10, "漢字漢字漢|↪ 字漢字"},
		{"no marks fit", 9, "no marks |fit"},
	} {
		if got := strings.Join(WrapMarked(c.line, c.width), "|"); got != c.want {
			t.Errorf("%q in %d columns:\n got %q\nwant %q", c.line, c.width, got, c.want)
		}
	}
}

// Whatever the text: nothing is lost, every part fits, and a word is broken only
// where it is longer than a line.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune("abc-/漢👍🏽❤️\u0301\t")))).Draw(rt, "words")
		gap := rapid.SampledFrom([]string{" ", "  ", "          "}).Draw(rt, "gap")
		line := termsafe.Text(strings.Join(words, gap))
		want := strings.ReplaceAll(line, "\t", "    ")
		width := rapid.IntRange(2, 40).Draw(rt, "width")
		first, rest, _ := MarkedWidths(width)
		var joined strings.Builder
		for i, part := range WrapParts(line, first, rest) {
			joined.WriteString(part.Text)
			room := first
			if i > 0 {
				room = rest
			}
			if part.Broken {
				if room >= marksFrom-2 {
					room--
				}
				word := part.Text[strings.LastIndexByte(part.Text, ' ')+1:] + wordAt(want[joined.Len():])
				if !isLongWord(word, rest) {
					rt.Fatalf("%q in %d columns: the word %q is broken, and it fits a line", line, width, word)
				}
			}
			if n := max(ansi.StringWidthWc(part.Visible()), ansi.StringWidth(part.Visible())); n > max(room, 2) {
				rt.Fatalf("%q in %d columns: %q takes %d, want at most %d", line, width, part.Text, n, room)
			}
		}
		if joined.String() != want {
			rt.Fatalf("joined: got %q, want %q", joined.String(), want)
		}
	})
}

func wordAt(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// What a terminal library counts wider than hookmux does would be cut off at the edge.
func TestNoCharacterIsCountedTooNarrow(t *testing.T) {
	for r := rune(0x20); r <= 0x3ffff; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue // no characters
		}
		clean := termsafe.Line("a"+string(r), 0)
		if got, want := termsafe.Width(clean), ansi.StringWidth(clean); got < want {
			t.Errorf("%U is counted as %d columns, want at least %d", r, got-1, want-1)
		}
	}
}
