package termsafe

import (
	"unicode"
	"unicode/utf8"
)

// A character can be harmless by itself and deceive by its place: a mathematical slash in a
// host name, a Cyrillic letter in a Latin word, a pile of marks over one letter. Whether it
// does depends on what is around it, so a reader walks through a text and decides for one
// character after the other.
type reader struct {
	s       string
	prev    rune // the character before, '\\' for one that is written out
	marks   int  // how many marks are on one letter so far
	wordEnd int  // where the last word that was looked at ends
	alike   bool // its foreign letters are written out
}

// hides reports whether the character at i must be escaped. It is called for every character,
// in order.
func (rd *reader) hides(i int, r rune, size int) bool {
	hidden := rd.evaluator(i, r, size)
	rd.prev = r
	if hidden {
		rd.prev = '\\'
	}
	return hidden
}

func (rd *reader) evaluator(i int, r rune, size int) bool {
	if isEscaped(r, size, rd.prev) {
		return true
	}
	if r < 0x300 {
		rd.marks = 0
		if rd.wordEnd <= i && isWordRune(r) {
			rd.readWord(i)
		}
		return false
	}
	if stacks(r) {
		rd.marks++
		return rd.marks > maxMarks
	}
	rd.marks = 0
	if isSlashAlike(r) || isDotAlike(r) {
		return true
	}
	if r >= 0x3000 && (isWideSlash(r) || isWideDot(r)) {
		return rd.betweenNarrow(i+size, isWideDot(r))
	}
	if !isWordRune(r) {
		return false
	}
	if rd.wordEnd <= i {
		rd.readWord(i)
	}
	return rd.alike && isForeign(r)
}

// isEscaped reports whether a rune is escaped everywhere: what is dangerous, and what isn't a
// character.
func isEscaped(r rune, size int, prev rune) bool {
	return r == utf8.RuneError && size == 1 || Dangerous(r) && !styles(r, prev)
}

// maxMarks is how many marks one letter may carry. Vietnamese and Hebrew need two.
const maxMarks = 2

// stacks reports whether a rune is one of the marks that go on top of any letter, and on
// each other. Marks that belong to one script, such as Tibetan or Thai, pile up in ordinary
// words.
func stacks(r rune) bool {
	return unicode.Is(unicode.Inherited, r) && unicode.In(r, unicode.Mn, unicode.Me) || r >= 0x483 && r <= 0x489
}

// isSlashAlike reports whether a rune is one of the signs that look like / or \ and belong to
// no script.
func isSlashAlike(r rune) bool {
	switch r {
	case 0x1735, 0x2044, 0x2215, 0x2216, 0x27cb, 0x27cd, 0x29f5, 0x29f6, 0x29f8, 0x29f9, 0x2571, 0x2572,
		0x2afd, 0x2cc6, 0x2cf9, 0xfe68, 0x1d23a:
		return true
	}
	return false
}

// isDotAlike reports whether a rune is one of the signs that look like . or : and belong to no
// script.
func isDotAlike(r rune) bool {
	switch r {
	case 0x2024, 0x2236, 0xa789, 0xfe52, 0xfe55, 0x10a50, 0x1d16d:
		return true
	}
	return false
}

// isWideSlash and isWideDot recognise signs that are ordinary in Chinese and Japanese.
func isWideSlash(r rune) bool {
	switch r {
	case 0x3033, 0x30ce, 0x31d3, 0x4e3f, 0xff0f, 0xff3c:
		return true
	}
	return false
}

func isWideDot(r rune) bool { return r == 0x3002 || r == 0xff0e || r == 0xff61 || r == 0xfe12 }

// betweenNarrow reports whether the sign that ends at next is in Latin text: both neighbours
// are ASCII. A full stop needs a letter or digit after it, because it also ends a sentence
// whose last word is Latin.
func (rd *reader) betweenNarrow(next int, dot bool) bool {
	if rd.prev >= 0x80 || dot && (rd.prev <= ' ') {
		return false
	}
	r := rune(0)
	if next < len(rd.s) {
		var size int
		if r, size = utf8.DecodeRuneInString(rd.s[next:]); isEscaped(r, size, 0) {
			r = '\\'
		}
	}
	if dot {
		return r < 0x80 && isWordRune(r)
	}
	return r < 0x80 && (r > ' ' || rd.prev > ' ')
}

// isWordRune reports whether a rune can be part of a word.
func isWordRune(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// readWord looks at the word that begins at i. An escape that is written out already ends it,
// so that output is read the same as input.
func (rd *reader) readWord(i int) {
	latin, foreign, others, marks := false, false, false, 0
	end, prev := i, rd.prev
	if n := writtenEscape(rd.s, i-1); n > 0 && prev == '\\' {
		// The letters of an escape aren't a word.
		rd.wordEnd, rd.alike = i-1+n, false
		return
	}
	for end < len(rd.s) {
		r, size := utf8.DecodeRuneInString(rd.s[end:])
		if isEscaped(r, size, prev) || !isWordRune(r) && !unicode.Is(unicode.Mn, r) {
			break
		}
		if !stacks(r) {
			marks = 0
		} else if marks++; marks > maxMarks {
			break
		}
		switch {
		case isForeign(r):
			foreign = true
			others = others || !isLatinAlike(r)
		case r < 0x80 && !unicode.IsDigit(r) || r >= 0x80 && unicode.Is(unicode.Latin, r):
			latin = true
		}
		prev = r
		end += size
	}
	rd.wordEnd = end
	// A host label that is Cyrillic as a whole, and can be read as Latin as a whole.
	label := foreign && !others && end+1 < len(rd.s) && rd.s[end] == '.' && rd.s[end+1] < 0x80 &&
		isWordRune(rune(rd.s[end+1]))
	rd.alike = foreign && (latin || label)
}

// writtenEscape returns the length of an escape as this package writes it at i, 0 for
// none.
func writtenEscape(s string, i int) int {
	if i < 0 || i+1 >= len(s) || s[i] != '\\' {
		return 0
	}
	n := 0
	switch s[i+1] {
	case 'x':
		n = 4
	case 'u':
		n = 6
	case 'U':
		n = 10
	}
	if n == 0 || i+n > len(s) {
		return 0
	}
	for _, c := range []byte(s[i+2 : i+n]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0
		}
	}
	return n
}

// isForeign reports whether a rune is one of the letters that only appear in Latin words to
// deceive. Greek letters that look like no Latin letter are used for numbers and units
// (Δt, μs), and stay.
func isForeign(r rune) bool {
	switch {
	case r < 0x370:
		return false
	case r <= 0x3ff || r >= 0x1f00 && r <= 0x1fff:
		return isLatinAlike(r)
	case r >= 0xff21 && r <= 0xff5a: // Latin letters of double width
		return true
	}
	return unicode.In(r, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
		unicode.Deseret)
}

// isLatinAlike reports whether a foreign letter can be taken for a Latin one.
func isLatinAlike(r rune) bool {
	switch {
	case r >= 0x1f00 && r <= 0x1fff: // Greek letters with marks
		return true
	case r >= 0x370 && r <= 0x3ff:
		return alikeIn("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺϻαεηικνορτυχγωϲϳϜϝͿάέήίόύώΆΈΉΊΌΎϊϋΐΰ", r)
	case r >= 0x400 && r <= 0x52f:
		return alikeIn("АВЕЅІЇЈКМНОРСТУХҮҺӀԁԌԚԜԛԝабвеёѕіїјкмнорсстухьһӏҮүҽѡѵѴЁЀѐӒӓӐӑӔӕӦӧӰӱӮӯЍўЎ", r)
	}
	return unicode.In(r, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret)
}

func alikeIn(list string, r rune) bool {
	for _, one := range list {
		if one == r {
			return true
		}
	}
	return false
}
