package termsafe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	lineMark = '⏎' // replaces a line end
	cutMark  = '…' // replaces what didn't fit
)

// Line returns s on one line of at most width columns: dangerous characters escaped, line
// ends as ⏎, tabs as blanks, and … where it was cut. Line ends at the very end are dropped.
// With width 0 or less nothing is cut.
func Line(s string, width int) string {
	s = strings.TrimRight(s, "\r\n")
	if fits(s, width) {
		return s
	}
	dst := make([]byte, 0, min(len(s), 4*max(width, 64))+16)
	used := 0 // columns so far
	cut := 0  // length of dst that leaves a column for the mark
	prev := rune(0)
	rd := reader{s: s}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		before := len(dst)
		var columns int
		crlf := r == '\r' && i+1 < len(s) && s[i+1] == '\n'
		hidden := !crlf && rd.hides(i, r, size)
		switch {
		case crlf:
			i++
			continue
		case r == '\n':
			dst, columns = utf8.AppendRune(dst, lineMark), 1
		case r == '\t':
			dst, columns = append(dst, ' '), 1
		case r == utf8.RuneError && size == 1:
			dst = appendByte(dst, s[i])
			columns = len(dst) - before
			r = 0
		case hidden:
			dst = appendRune(dst, r)
			columns = len(dst) - before
			r = 0
		default:
			dst = append(dst, s[i:i+size]...)
			columns = runeWidth(r, prev)
		}
		if width > 0 {
			if used+columns > width {
				return string(utf8.AppendRune(dst[:cut], cutMark))
			}
			used += columns
			if used < width {
				cut = len(dst)
			}
		}
		prev = r
		i += size
	}
	return string(dst)
}

// fits reports whether Line has nothing to do.
func fits(s string, width int) bool {
	if firstUnsafe(s) < len(s) || strings.ContainsAny(s, "\n\t") {
		return false
	}
	return width <= 0 || len(s) <= width || Width(s) <= width
}

// Width returns how many columns s takes in a terminal, as far as that can be
// known: wide characters and emoji count 2, marks on other characters 0.
func Width(s string) int {
	n := 0
	prev := rune(0)
	for _, r := range s {
		n += runeWidth(r, prev)
		prev = r
	}
	return n
}

// runeWidth returns how many columns a character takes. The selector that asks for the
// colourful look makes a narrow symbol wide.
func runeWidth(r, prev rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == 0xfe0f:
		if isSymbol(prev) && !isWide(prev) {
			return 1
		}
		return 0
	case isWide(r):
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	return 1
}

func isWide(r rune) bool {
	if r < 0x1100 {
		return false
	}
	lo, hi := 0, len(wide)
	for lo < hi {
		mid := (lo + hi) / 2
		switch {
		case r < wide[mid][0]:
			hi = mid
		case r > wide[mid][1]:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

// wide lists, in order, the ranges that terminals draw over two columns. Whole blocks are
// listed: a column too many costs less than one too few.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3},
	{0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2630, 0x2637}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x268a, 0x268f},
	{0x2693, 0x2693}, {0x26a1, 0x26a1},
	{0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea},
	{0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b},
	{0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55},
	{0x2e80, 0x303e}, {0x3041, 0x3247}, {0x3250, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6},
	{0x16fe0, 0x18cff}, {0x18d00, 0x18d1e}, {0x18d80, 0x18df2}, {0x1aff0, 0x1b2ff}, {0x1d300, 0x1d356},
	{0x1d360, 0x1d376},
	{0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a}, {0x1f1e6, 0x1f1ff}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
	{0x1f37e, 0x1f393},
	{0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
	{0x1f440, 0x1f440},
	{0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a},
	{0x1f595, 0x1f596},
	{0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
	{0x1f6d5, 0x1f6df},
	{0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a},
	{0x1f93c, 0x1f945},
	{0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}
