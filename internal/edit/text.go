package edit

import (
	"bytes"
	"slices"
	"sort"
)

// lines is the text of a format that lives by its lines, made easy to cut: body
// is without byte order mark, and each of its line ends is a single newline.
// Splices speak of body; result puts them into the bytes as they were.
type lines struct {
	cutter
	src []byte
	bom int
	crs []int  // the newlines of body that have a carriage return before them
	nl  string // how a new line ends

	newlines []int
}

// newLines fails on a carriage return that ends no line: the formats disagree
// about what it means.
func newLines(src []byte) (*lines, error) {
	t := &lines{src: src, nl: "\n"}
	if bytes.HasPrefix(src, byteOrderMark) {
		t.bom = len(byteOrderMark)
	}
	body := src[t.bom:]
	if bytes.IndexByte(body, '\r') >= 0 {
		if at := bytes.IndexByte(body, '\n'); at > 0 && body[at-1] == '\r' {
			t.nl = "\r\n"
		}
		plain := make([]byte, 0, len(body))
		for i, c := range body {
			switch {
			case c != '\r':
				plain = append(plain, c)
			case i+1 < len(body) && body[i+1] == '\n':
				t.crs = append(t.crs, len(plain))
			default:
				t.body = plain
				return nil, &SyntaxError{t.position(len(plain)), "a carriage return without a newline"}
			}
		}
		body = plain
	}
	t.body = body
	return t, nil
}

func (t *lines) position(offset int) Position {
	if t.newlines == nil {
		t.newlines = []int{-1}
		for i, c := range t.body {
			if c == '\n' {
				t.newlines = append(t.newlines, i)
			}
		}
	}
	line, _ := slices.BinarySearch(t.newlines, offset)
	return Position{Line: line, Col: offset - t.newlines[line-1]}
}

// result returns the source with all splices done.
func (t *lines) result() []byte {
	return t.spliced(t.src, func(offset int) int {
		return t.bom + offset + sort.SearchInts(t.crs, offset)
	}, t.nl)
}

func (t *lines) bytes() []byte { return t.src }

func (t *lines) lineStart(offset int) int {
	return bytes.LastIndexByte(t.body[:offset], '\n') + 1
}

// lineEnd returns where the line of offset ends, its newline included.
func (t *lines) lineEnd(offset int) int {
	if i := bytes.IndexByte(t.body[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(t.body)
}

// afterBlank returns the first offset from at on that is no space or tab.
func (t *lines) afterBlank(at int) int {
	for at < len(t.body) && (t.body[at] == ' ' || t.body[at] == '\t') {
		at++
	}
	return at
}

// openEnd reports whether the last line has no newline.
func (t *lines) openEnd() bool { return len(t.body) > 0 && t.body[len(t.body)-1] != '\n' }

// insertLines puts whole lines, each with its newline, where a line ends. A text
// whose last line has no newline stays so.
func (t *lines) insertLines(at int, text string) {
	if at == len(t.body) && t.openEnd() {
		text = "\n" + text[:len(text)-1]
	}
	t.addSplice(at, at, text)
}

// cutLines removes the text from start to end and the lines it fills. A comment after it keeps
// its line.
func (t *lines) cutLines(start, end int) {
	from, to := t.lineStart(start), t.lineEnd(end)
	if rest := t.text(end, to); !blank(rest) {
		t.addSplice(start, end+blankPrefix(rest), "")
		return
	}
	if to == len(t.body) && t.openEnd() && from > 0 {
		from--
	}
	t.addSplice(from, to, "")
}
