package gitfiles

import (
	"bytes"
	"encoding/binary"
	"os"
	"sort"
	"strings"
)

// index is git's list of tracked files.
type index struct {
	entries []entry // sorted by name
	staged  bool    // its cached tree is not whole: something was added since the last commit
}

// entry is one tracked file as it was when git last looked.
type entry struct {
	name           string
	seconds, nanos uint32
	size           uint32
	mode           uint32
	skip           bool // not in the work tree on purpose, or not to be looked at
}

// fixedPart is the length of an entry before its name.
const fixedPart = 62

// parseIndex reads versions 2, 3 and 4; nil if b is none of these.
func parseIndex(b []byte) *index {
	if !hasMagic(b) || len(b) < 12+20 {
		return nil
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 || uint64(count) > uint64(len(b))/fixedPart+1 {
		return nil
	}
	in := &index{entries: make([]entry, 0, count)}
	rest, previous := b[12:], ""
	for range count {
		e, n, ok := parseEntry(rest, version, previous)
		if !ok {
			return nil
		}
		in.entries = append(in.entries, e)
		rest, previous = rest[n:], e.name
	}
	in.staged = changedTree(rest)
	if !sort.SliceIsSorted(in.entries, func(i, j int) bool { return in.entries[i].name < in.entries[j].name }) {
		return nil
	}
	return in
}

// parseEntry reads one entry and returns its length.
func parseEntry(b []byte, version uint32, previous string) (e entry, n int, ok bool) {
	if len(b) < fixedPart {
		return e, 0, false
	}
	e.seconds, e.nanos = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	e.mode, e.size = binary.BigEndian.Uint32(b[24:]), binary.BigEndian.Uint32(b[36:])
	flags := binary.BigEndian.Uint16(b[60:])
	e.skip = flags&0x8000 != 0 || e.mode&0o170000 == 0o160000 // assumed unchanged; a submodule
	n = fixedPart
	if flags&0x4000 != 0 { // extended
		if version < 3 || len(b) < n+2 {
			return e, 0, false
		}
		e.skip = e.skip || binary.BigEndian.Uint16(b[n:])&0x4000 != 0 // skip-worktree
		n += 2
	}
	if version < 4 {
		end := bytes.IndexByte(b[n:], 0)
		if end < 0 {
			return e, 0, false
		}
		e.name = string(b[n : n+end])
		n += end
		n += 8 - n%8 // one to eight zero bytes
		return e, n, n <= len(b)
	}
	cut, used := readOffset(b[n:])
	if used == 0 || cut > len(previous) {
		return e, 0, false
	}
	n += used
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 {
		return e, 0, false
	}
	e.name = previous[:len(previous)-cut] + string(b[n:n+end])
	return e, n + end + 1, true
}

// readOffset reads git's variable-length number.
func readOffset(b []byte) (value, used int) {
	for i, c := range b {
		if i > 4 {
			return 0, 0
		}
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// changedTree reports whether the extension with cached trees says that its root
// has no valid tree: something was added or removed since it was written.
func changedTree(b []byte) bool {
	for len(b) >= 8+20 {
		size := binary.BigEndian.Uint32(b[4:])
		if uint64(size) > uint64(len(b)-8) {
			return false
		}
		if string(b[:4]) == "TREE" {
			body := b[8 : 8+size]
			_, counts, ok := bytes.Cut(body, []byte{0})
			return ok && bytes.HasPrefix(counts, []byte("-1 "))
		}
		b = b[8+size:]
	}
	return false
}

// holds reports whether a file, or anything below a folder, is in the index.
func (in *index) holds(name string) bool {
	if name == "." {
		return len(in.entries) > 0
	}
	at := sort.Search(len(in.entries), func(i int) bool { return in.entries[i].name >= name })
	if at < len(in.entries) && in.entries[at].name == name {
		return true
	}
	below := name + "/"
	at = sort.Search(len(in.entries), func(i int) bool { return in.entries[i].name >= below })
	return at < len(in.entries) && strings.HasPrefix(in.entries[at].name, below)
}

// unchanged reports whether a file is still what git saw.
func (e *entry) unchanged(info os.FileInfo) bool {
	when := info.ModTime()
	return uint32(info.Size()) == e.size && uint32(when.Unix()) == e.seconds &&
		(e.nanos == 0 || uint32(when.Nanosecond()) == e.nanos)
}
