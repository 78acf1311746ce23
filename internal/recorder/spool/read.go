package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"os"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
)

// Reader walks the records of one file.
type Reader struct {
	src     io.Reader
	buf     []byte // what was read and not yet used is buf[at:]
	at      int
	eof     bool
	err     error
	offset  int64 // of buf[at] in the source
	good    int64 // offset behind the last record given out
	skipped int64
}

// Read starts reading records from r.
func Read(r io.Reader) *Reader { return &Reader{src: r} }

// Next gives the next whole record. It is false at the end, at a torn tail,
// and when the source fails (see Err).
func (r *Reader) Next() (Record, bool) {
	for {
		rec, size, err := r.try()
		if err == nil {
			r.drop(size)
			r.skipped += r.offset - int64(size) - r.good
			r.good = r.offset
			return rec, true
		}
		// A record that seems cut off is no reason to stop: it may be garbage
		// with whole records behind it. Only the end of the source ends.
		if !r.seek() {
			return Record{}, false
		}
	}
}

// All gives every record that is left.
func (r *Reader) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for {
			rec, ok := r.Next()
			if !ok || !yield(rec) {
				return
			}
		}
	}
}

// Skipped counts the bytes of garbage before and between records. A torn tail
// is not among them.
func (r *Reader) Skipped() int64 { return r.skipped }

// Err returns what the source said, other than that it is at its end.
func (r *Reader) Err() error { return r.err }

// try decodes a record right here. Its size counts from here.
func (r *Reader) try() (rec Record, size int, err error) {
	if !r.fillBuffer(spoolrecord.HeadSize) {
		return Record{}, 0, errShort
	}
	head := r.buf[r.at:]
	if !bytes.Equal(head[:len(spoolrecord.Mark)], spoolrecord.Mark[:]) {
		return Record{}, 0, spoolrecord.ErrBroken
	}
	n := binary.LittleEndian.Uint32(head[4:])
	sum := binary.LittleEndian.Uint32(head[8:])
	if n > spoolrecord.MaxBody {
		return Record{}, 0, spoolrecord.ErrBroken
	}
	size = spoolrecord.HeadSize + int(n)
	if !r.fillBuffer(size) {
		return Record{}, 0, errShort
	}
	body := r.buf[r.at+spoolrecord.HeadSize : r.at+size]
	if crc32.ChecksumIEEE(body) != sum {
		return Record{}, 0, spoolrecord.ErrBroken
	}
	rec, err = spoolrecord.Decode(body)
	return rec, size, err
}

// seek goes to the next mark behind this byte, or false to the end.
func (r *Reader) seek() bool {
	if !r.fillBuffer(1) {
		return false
	}
	r.drop(1)
	for {
		if i := bytes.Index(r.buf[r.at:], spoolrecord.Mark[:]); i >= 0 {
			r.drop(i)
			return true
		}
		// The last three bytes may be the beginning of a mark.
		if left := len(r.buf) - r.at; left >= len(spoolrecord.Mark) {
			r.drop(left - len(spoolrecord.Mark) + 1)
		}
		if !r.fillBuffer(len(r.buf) - r.at + 1) {
			r.drop(len(r.buf) - r.at)
			return false
		}
	}
}

func (r *Reader) drop(n int) {
	r.at += n
	r.offset += int64(n)
}

// fillBuffer makes n bytes ready in the buffer, and false when there aren't so many.
func (r *Reader) fillBuffer(n int) bool {
	for len(r.buf)-r.at < n {
		if r.eof {
			return false
		}
		if r.at > 0 {
			r.buf = r.buf[:copy(r.buf, r.buf[r.at:])]
			r.at = 0
		}
		if len(r.buf) == cap(r.buf) {
			larger := make([]byte, len(r.buf), max(64<<10, 2*cap(r.buf)))
			copy(larger, r.buf)
			r.buf = larger
		}
		m, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+m]
		if err != nil {
			r.eof = true
			if err != io.EOF {
				r.err = err
			}
		}
	}
	return true
}

// maxFile is more than a daemon or a hook ever writes into one file.
const maxFile = 256 << 20

// ReadFile gives all records of a file, and how many bytes of it were garbage.
// What is no regular file, or larger than a file of ours, is not read: see
// package smallfile.
func ReadFile(path string) (recs []Record, skipped int64, err error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // only read from
	if info, err := f.Stat(); err != nil || info.Size() > maxFile {
		return nil, 0, errors.Join(err, &os.PathError{Op: "read", Path: path, Err: files.ErrTooLarge})
	}
	r := Read(f)
	for rec := range r.All() {
		recs = append(recs, rec)
	}
	return recs, r.Skipped(), r.Err()
}
