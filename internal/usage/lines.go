package usage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Bounds of reading lines. Most lines fit into firstBuffer; a longer one gets a larger
// buffer until maxLine, beyond which it is passed over.
const (
	firstBuffer = 128 << 10
	maxLine     = 16 << 20
)

// lineReader finds the lines of a file that have one of a few markers in them. It
// looks for the markers first and for the ends of lines only around them: most of what
// agents write down is of no interest here.
type lineReader struct {
	markers []marker
	buf     []byte
	// next is where each marker comes next in what is left, and, after them, a character of one that is
	// written as an escape.
	next    []int
	tooLong bool // a line was passed over
}

func newLineReader(markers []string) *lineReader {
	r := &lineReader{buf: make([]byte, 0, firstBuffer), next: make([]int, len(markers)+1)}
	for _, m := range markers {
		r.markers = append(r.markers, newMarker(m))
	}
	return r
}

// read calls row for each marked line of in, which begins at offset. It returns the offset after the
// last complete line. A last line without an end is passed as well: if only its end is missing, its
// numbers are known at once.
func (r *lineReader) read(in io.Reader, offset int64, row func(line []byte, offset int64, ended bool)) (int64, error) {
	r.buf, r.tooLong = r.buf[:0], false
	skipping := false // within a line that is too long
	for {
		if len(r.buf) == cap(r.buf) {
			if cap(r.buf) >= maxLine {
				offset += int64(len(r.buf))
				r.buf, skipping, r.tooLong = r.buf[:0], true, true
			} else {
				grown := make([]byte, len(r.buf), min(4*cap(r.buf), maxLine))
				copy(grown, r.buf)
				r.buf = grown
			}
		}
		n, err := in.Read(r.buf[len(r.buf):cap(r.buf)])
		fresh := len(r.buf)
		r.buf = r.buf[:fresh+n]
		if skipping {
			end := bytes.IndexByte(r.buf, '\n')
			if end < 0 {
				offset += int64(len(r.buf))
				r.buf = r.buf[:0]
			} else {
				offset += int64(end) + 1
				r.buf = r.buf[:copy(r.buf, r.buf[end+1:])]
				skipping, fresh = false, 0
			}
		}
		if last := bytes.LastIndexByte(r.buf[min(fresh, len(r.buf)):], '\n'); last >= 0 {
			last += min(fresh, len(r.buf)) + 1
			r.rows(r.buf[:last], offset, row)
			offset += int64(last)
			r.buf = r.buf[:copy(r.buf, r.buf[last:])]
		}
		if err != nil {
			if !skipping && len(r.buf) > 0 {
				r.rows(r.buf, offset, row)
			}
			if cap(r.buf) > 4*firstBuffer && !skipping { // the next piece of a line that is too long needs it again
				r.buf = make([]byte, 0, firstBuffer)
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return offset, err
		}
	}
}

// rows passes on the marked lines of a piece that consists of whole lines.
func (r *lineReader) rows(piece []byte, offset int64, row func(line []byte, offset int64, ended bool)) {
	for i := range r.next {
		r.next[i] = r.index(i, piece, 0)
	}
	for {
		at := len(piece)
		for _, n := range r.next {
			at = min(at, n)
		}
		if at == len(piece) {
			return
		}
		begin := lastBreak(piece[:at]) + 1
		end := len(piece)
		if n := bytes.IndexByte(piece[at:], '\n'); n >= 0 {
			end = at + n
		}
		row(piece[begin:end], offset+int64(begin), end < len(piece))
		for i, n := range r.next {
			if n < end {
				r.next[i] = r.index(i, piece, end)
			}
		}
	}
}

func (r *lineReader) index(i int, piece []byte, from int) int {
	if i < len(r.markers) {
		return r.markers[i].index(piece, from)
	}
	return escapedLetter(piece, from)
}

// maxRepairs is how many places a record may begin at in a line that isn't one.
const maxRepairs = 64

// repaired returns the record in a line that has something else before it, for example because an
// agent was killed while it wrote, or something without an end was added; nil for none.
func repaired(line []byte) []byte {
	for range maxRepairs {
		at := bytes.Index(line[min(1, len(line)):], []byte(`{"`))
		if at < 0 {
			return nil
		}
		if line = line[at+1:]; jsontext.Valid(line) {
			return line
		}
	}
	return nil
}

// The lowest and the highest bit of each of eight bytes.
const ones, high = 0x0101010101010101, 0x8080808080808080

// lastBreak returns where the last line break is, -1 if there is none. It looks at 32 bytes together:
// much may be between a line's beginning and its marker.
func lastBreak(b []byte) int {
	i := len(b)
	for ; i >= 32; i -= 32 {
		p := (*[32]byte)(b[i-32:])
		if hasZero(breaksIn(p[0:8])) || hasZero(breaksIn(p[8:16])) || hasZero(breaksIn(p[16:24])) || hasZero(breaksIn(p[24:32])) {
			break
		}
	}
	return bytes.LastIndexByte(b[max(0, i-32):i], '\n') + max(0, i-32)
}

// breaksIn returns a word with a zero byte for each of eight bytes that is a line break.
func breaksIn(b []byte) uint64 { return binary.LittleEndian.Uint64(b) ^ '\n'*ones }

// marker is a text to look for. Looking for its rarest byte first passes over most of a
// file at the speed of memory; [bytes.Index] looks for the first one, a quote, which is
// everywhere in JSON.
type marker struct {
	text []byte
	rare int // where text has the byte
}

// byRarity are the bytes of markers, rarest first in what agents write.
const byRarity = "zjqxkvwybgfpmcdluhsrnioate_."

func newMarker(text string) marker {
	for _, c := range byRarity {
		if at := strings.IndexRune(text, c); at >= 0 {
			return marker{[]byte(text), at}
		}
	}
	return marker{[]byte(text), 0}
}

// index returns where the marker comes next from a place on; len(piece) where it doesn't.
func (m *marker) index(piece []byte, from int) int {
	rare := m.text[m.rare]
	for tried := 0; ; tried++ {
		n := bytes.IndexByte(piece[min(from+m.rare, len(piece)):], rare)
		if n < 0 {
			return len(piece)
		}
		if from += n; bytes.HasPrefix(piece[from:], m.text) {
			return from
		}
		from++
		// If the byte isn't rare, each stop costs more than it skips.
		if tried == maxTries {
			tried = 0
			if n < rareFrom {
				end := min(from+rareFrom*maxTries, len(piece))
				if n := bytes.Index(piece[from:min(end+len(m.text)-1, len(piece))], m.text); n >= 0 {
					return from + n
				}
				from = end
			}
		}
	}
}

// A byte that comes more often than every rareFrom bytes isn't rare there.
const (
	rareFrom = 16
	maxTries = 64
)

// escapedLetter returns where the next character that markers are made of is written as an escape, as
// in "\u0075sage", which is the same key as "usage"; len(piece) if there is none. Agents hardly ever
// write one: it looks for a backslash followed by a u at 32 places together.
func escapedLetter(piece []byte, from int) int {
	i := from
	for ; i+32 < len(piece); i += 32 {
		p := (*[33]byte)(piece[i:])
		a, b := escapesIn(p[0:8], p[1:9]), escapesIn(p[8:16], p[9:17])
		c, d := escapesIn(p[16:24], p[17:25]), escapesIn(p[24:32], p[25:33])
		// Together they have a byte that is zero wherever one of them has, and seldom another.
		if !hasZero(a&b&c&d) || !(hasZero(a) || hasZero(b) || hasZero(c) || hasZero(d)) {
			continue
		}
		for at := i; at < i+32; at++ {
			if isEscapedLetter(piece[at:]) {
				return at
			}
		}
	}
	for ; i < len(piece); i++ {
		if isEscapedLetter(piece[i:]) {
			return i
		}
	}
	return len(piece)
}

// escapesIn returns a word with a zero byte for each of eight that is a backslash followed by a u.
func escapesIn(here, behind []byte) uint64 {
	return (binary.LittleEndian.Uint64(here) ^ '\\'*ones) | (binary.LittleEndian.Uint64(behind) ^ 'u'*ones)
}

// hasZero reports whether one of eight bytes is zero.
func hasZero(x uint64) bool { return (x-ones)&^x&high != 0 }

// isEscapedLetter recognises letters, the underscore and the dot, with a few that are as rare.
func isEscapedLetter(b []byte) bool {
	return len(b) >= 6 && string(b[:4]) == `\u00` && (b[4] >= '4' && b[4] <= '7' || b[4] == '2' && b[5]|' ' == 'e')
}
