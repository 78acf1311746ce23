package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Bounds of one Read. A record may be as large as it likes.
const (
	headWindow  = 64 << 10  // read at the beginning of a record seen for the first time
	tailWindow  = 256 << 10 // read at its end
	maxCatchUp  = 1 << 20   // more than this added at once is skipped, but for the end
	maxRow      = 1 << 20   // a longer row is skipped
	fingerprint = 64        // bytes by which a record is known again
	maxWhole    = 256 << 10 // a file that is one document is read up to here
)

// Tail follows one file that grows.
type Tail struct {
	path, root string
	format     format
	session    string

	opened bool
	id     fileID
	offset int64  // of the first byte that was not understood yet
	inRow  bool   // offset lies within a row that is being skipped
	before []byte // the last bytes before offset: numbers of files are used again
	size   int64  // of a whole document, when it was last read
	mtime  int64
}

// format reads one file's rows.
type format struct {
	// row is called for each line; session is the session whose facts are
	// wanted.
	row func(row []byte, session string, emit func(Fact))
	// whole says that the file is one document, not lines.
	whole bool
	// reviewerKey is the key, in quotes, that every row has which says who
	// decides about permission requests; empty where no row says it.
	reviewerKey string
}

func newTail(path, root string, f format, session string) *Tail {
	return &Tail{path: path, root: root, format: f, session: session}
}

// Read gives the facts that were added since the last Read.
func (t *Tail) Read() ([]Fact, error) {
	file, err := openRegular(t.path)
	if err != nil {
		return nil, t.startAgain(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file, so it is not read", t.path)
	}
	// It may have become a link since the path was checked.
	if _, err := realPathWithin(t.root, t.path); err != nil {
		return nil, err
	}
	id := identifyFile(info)
	if t.format.whole {
		return t.readDocument(file, info, id)
	}
	if t.opened && (id != t.id || info.Size() < t.offset || !t.isKnown(file)) {
		t.opened = false // replaced or cut: it is another record now
	}
	var facts []Fact
	first := !t.opened
	if first {
		t.opened, t.id, t.offset, t.inRow = true, id, 0, false
		if info.Size() > headWindow+tailWindow {
			if err := t.readRows(file, 0, headWindow,
				func(f Fact) { f.Early = true; facts = append(facts, f) }); err != nil {
				return nil, t.startAgain(err)
			}
			t.jumpTo(info.Size() - tailWindow)
		}
	} else if info.Size()-t.offset > maxCatchUp {
		t.jumpTo(info.Size() - tailWindow)
	}
	err = t.readRows(file, t.offset, info.Size()-t.offset, func(f Fact) { facts = append(facts, f) })
	for i := range facts {
		facts[i].First = first
	}
	if err != nil {
		return nil, t.startAgain(err)
	}
	t.rememberBytes(file)
	return facts, nil
}

// rememberBytes keeps the bytes before offset.
func (t *Tail) rememberBytes(file io.ReaderAt) {
	t.before = make([]byte, min(t.offset, fingerprint))
	if _, err := file.ReadAt(t.before, t.offset-int64(len(t.before))); err != nil {
		t.opened = false
	}
}

// isKnown reports whether the file still has what was read of it last.
func (t *Tail) isKnown(file io.ReaderAt) bool {
	now := make([]byte, len(t.before))
	_, err := file.ReadAt(now, t.offset-int64(len(now)))
	return err == nil && bytes.Equal(now, t.before)
}

func (t *Tail) startAgain(err error) error {
	t.opened = false
	return err
}

// jumpTo goes on at offset, most likely in the middle of a row.
func (t *Tail) jumpTo(offset int64) { t.offset, t.inRow = offset, true }

// readRows reads length bytes from offset and hands out the whole rows in them.
// t.offset ends up behind the last whole row.
func (t *Tail) readRows(file io.ReaderAt, offset, length int64, emit func(Fact)) error {
	t.offset = offset
	if length <= 0 {
		return nil
	}
	buf := make([]byte, length)
	n, err := file.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	buf = buf[:n]
	for {
		end := bytes.IndexByte(buf, '\n')
		if end < 0 {
			break
		}
		row := buf[:end]
		buf = buf[end+1:]
		t.offset += int64(end) + 1
		if t.inRow {
			t.inRow = false
			continue
		}
		if row = bytes.TrimSpace(row); len(row) > 0 && len(row) <= maxRow && row[0] == '{' {
			t.format.row(row, t.session, emit)
		}
	}
	if t.inRow || len(buf) > maxRow {
		// The rest of a row that isn't needed: the part already read needn't be read again.
		t.offset += int64(len(buf))
		t.inRow = len(buf) > 0 || t.inRow
	}
	return nil
}

// readDocument reads a file that is one document, when it changed.
func (t *Tail) readDocument(file io.Reader, info os.FileInfo, id fileID) ([]Fact, error) {
	mtime := info.ModTime().UnixNano()
	if t.opened && id == t.id && info.Size() == t.size && mtime == t.mtime {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(file, maxWhole+1))
	if err != nil {
		return nil, err
	}
	first := !t.opened
	t.opened, t.id, t.size, t.mtime = true, id, info.Size(), mtime
	if len(text) > maxWhole {
		return nil, nil
	}
	var facts []Fact
	t.format.row(text, t.session, func(f Fact) { f.First = first; facts = append(facts, f) })
	return facts, nil
}
