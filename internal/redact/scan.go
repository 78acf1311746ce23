package redact

import (
	"strings"
)

// Classes of bytes. One table serves plain text and the inside of JSON strings,
// so that the common byte costs one load and one compare.
const (
	classPlain = iota
	classAnchor
	classQuote
	classEscape
	classControl
	classHigh
)

// class: the anchors are chosen so that every known shape contains one and
// ordinary text contains few. Letters that start the shapes ("s", "g", "e") are
// far too common; the punctuation and capitals inside them are not.
var class = func() (t [256]uint8) {
	for c := 0; c < 0x20; c++ {
		t[c] = classControl
	}
	for c := 0x80; c < 0x100; c++ {
		t[c] = classHigh
	}
	t['"'], t['\\'] = classQuote, classEscape
	for _, c := range "-_:=B<" {
		t[c] = classAnchor
	}
	return t
}()

// skipPlain returns the next index at or after i whose byte is not plain. Four
// at a time, because most of the time of this package is spent here.
func skipPlain(s string, i int) int {
	for i+4 <= len(s) {
		p := s[i : i+4]
		if class[p[0]]|class[p[1]]|class[p[2]]|class[p[3]] != classPlain {
			break
		}
		i += 4
	}
	for i < len(s) && class[s[i]] == classPlain {
		i++
	}
	return i
}

// nextAnchored finds the first secret that hangs on an anchor and begins at from or later. The
// text before from isn't looked at: by then there is a replacement, and a second look at the
// result must find what the first found.
func nextAnchored(s string, from int) (span, bool) {
	s = s[from:]
	for i := skipPlain(s, 0); i < len(s); i = skipPlain(s, i+1) {
		if class[s[i]] != classAnchor || !isCandidate(s, 0, i) {
			continue
		}
		if sp, ok := matchAnchor(s, i); ok && sp.end > sp.start {
			return span{sp.start + from, sp.end + from, sp.kind}, true
		}
	}
	return span{}, false
}

// isCandidate takes the cheap look at the anchor s[i]: a few neighbouring bytes, not before lo.
// It must hold for raw JSON too, where a neighbour can be an escape: therefore it doesn't look
// at what precedes a shape.
func isCandidate(s string, lo, i int) bool {
	switch s[i] {
	case '-':
		if i+1 < len(s) && s[i+1] == '-' {
			return (i == lo || s[i-1] != '-') && dashRun(s, lo, i)
		}
		return i > lo && (knownPrefix(dashShapes(), s, lo, i) || dashWord(s, lo, i)) || optionCandidate(s, lo, i)
	case '_':
		return i > lo && knownPrefix(underShapes(), s, lo, i) || nameCandidate(s, i)
	case ':':
		if i+2 < len(s) && (s[i+1] == '/' || s[i+1] == '\\') && urlCandidate(s, lo, i) {
			return true
		}
		if i+2 < len(s) && s[i+1] == 'A' && s[i+2] == 'A' || i > lo && IsDigit(s[i-1]) && botBefore(s, lo, i) >= 0 {
			return true
		}
		return nameTail(s, lo, i)
	case '=':
		return nameTail(s, lo, i)
	case 'B':
		return i+7 < len(s) && s[i+1] == 'e' && s[i+2] == 'a' && s[i+3] == 'r' ||
			i+3 < len(s) && (s[i+1] == 'Y' && s[i+2] == ' ' || s[i+1] == 'a' && s[i+2] == 's' && s[i+3] == 'i')
	case '<':
		return i+5 < len(s) && (s[i+1] == '/' || s[i+1] == '\\') && closingTag(s, i) ||
			i+3 < len(s) && s[i+1] == '<'
	}
	return false
}

// matchAnchor returns the full look at the anchor s[i] in decoded text.
func matchAnchor(s string, i int) (span, bool) {
	switch s[i] {
	case '-':
		return matchDash(s, i)
	case '_':
		if sp, ok := matchPrefix(underShapes(), s, 0, i); ok {
			return sp, true
		}
		return matchNameThenValue(s, i)
	case ':':
		if sp, ok := matchURL(s, i); ok {
			return sp, true
		}
		if sp, ok := matchTelegram(s, i); ok {
			return sp, true
		}
		return matchAssignment(s, i)
	case '=':
		return matchAssignment(s, i)
	case 'B':
		if sp, ok := matchBearer(s, i); ok {
			return sp, true
		}
		if sp, ok := matchBasicAuth(s, i); ok {
			return sp, true
		}
		return matchIdentifiedBy(s, i)
	case '<':
		if i+1 < len(s) && s[i+1] == '<' {
			return matchHere(s, i)
		}
		return matchElement(s, i)
	}
	return span{}, false
}

func matchDash(s string, i int) (span, bool) {
	if sp, ok := matchPrefix(dashShapes(), s, 0, i); ok {
		return sp, true
	}
	if i+1 < len(s) && s[i+1] == '-' {
		if i > 0 && s[i-1] == '-' {
			return span{}, false
		}
		if sp, ok := matchPEM(s, i); ok {
			return sp, true
		}
		if sp, ok := matchOption(s, i); ok {
			return sp, true
		}
		return matchFlag(s, i)
	}
	if sp, ok := matchOption(s, i); ok {
		return sp, true
	}
	return matchDashWord(s, i)
}

// nextPasswordWord finds the first secret that follows the word "password".
func nextPasswordWord(s string, from int) (span, bool) {
	s = s[from:]
	lower, upper := indexAfter(s, 0, 'w', "ss"), indexAfter(s, 0, 'W', "SS")
	for lower < len(s) || upper < len(s) {
		at := min(lower, upper)
		if sp, ok := matchPasswordWord(s, at); ok && sp.end > sp.start {
			return span{sp.start + from, sp.end + from, sp.kind}, true
		}
		if at == lower {
			lower = indexAfter(s, at+1, 'w', "ss")
		} else {
			upper = indexAfter(s, at+1, 'W', "SS")
		}
	}
	return span{}, false
}

// hasPasswordWord reports whether nextPasswordWord has anything to look at. The w
// is the rarest letter of the word.
func hasPasswordWord(s string) bool {
	return indexAfter(s, 0, 'w', "ss") < len(s) || indexAfter(s, 0, 'W', "SS") < len(s)
}

// indexAfter returns the first index from at on where letter follows before, len(s) if there is
// none.
func indexAfter(s string, at int, letter byte, before string) int {
	for ; ; at++ {
		i := strings.IndexByte(s[at:], letter)
		if i < 0 {
			return len(s)
		}
		at += i
		if at >= 4 && s[at-2:at] == before {
			return at
		}
	}
}
