// Package spoolrecord defines the format of the records that the daemon and the hook
// client keep on disk, and how a client leaves one. The client links it: standard
// library only, and nothing that costs time at every start. Package hash/crc32
// makes its tables then, which were 1.5% of a hook call.
package spoolrecord

import (
	"encoding/binary"
	"errors"
	"time"
)

// The kinds of records.
const (
	TypeEvent    = 'E' // an agent called a hook
	TypeDecision = 'D' // what it was answered
)

// Record is one entry.
type Record struct {
	Type         byte
	ID           string
	Time         time.Time // to the nanosecond, without a zone
	Agent        string
	Event        string
	Cwd          string
	AgentVersion string
	// PID is the process that called the hook, Start its start time in the
	// unit of the system it comes from. A client that leaves a record on its
	// own knows only its parent and no start time.
	PID       int
	Start     uint64
	TTY       string
	Pane      string
	Caller    string
	Nested    bool
	Truncated bool
	Payload   []byte
}

// Mark begins a record. On disk: mark (4 bytes), length of the body and its checksum (4 bytes each,
// little endian), body. The mark has bytes that no text contains, and its last
// one is the version of the format.
var Mark = [4]byte{0xf5, 'h', 0xc1, 1}

// HeadSize is how many bytes precede the body.
const HeadSize = 12

// MaxBody is more than any record of the daemon needs (payload 16 MiB and some
// strings); a length above it is garbage.
const MaxBody = 20 << 20

// ErrBroken says that a body is not one of a record.
var ErrBroken = errors.New("spool: record is broken")

const (
	flagNested = 1 << iota
	flagTruncated
)

// Append encodes r at the end of dst. sum is the checksum of CRC-32 (IEEE).
func Append(dst []byte, r *Record, sum func([]byte) uint32) []byte {
	start := len(dst)
	dst = append(dst, Mark[:]...)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0) // length and checksum follow below
	var flags byte
	if r.Nested {
		flags |= flagNested
	}
	if r.Truncated {
		flags |= flagTruncated
	}
	dst = append(dst, r.Type, flags)
	var nanos int64
	if !r.Time.IsZero() {
		nanos = r.Time.UnixNano()
	}
	dst = binary.AppendVarint(dst, nanos)
	dst = binary.AppendVarint(dst, int64(r.PID))
	dst = binary.AppendUvarint(dst, r.Start)
	for _, s := range [...]string{r.ID, r.Agent, r.Event, r.Cwd, r.AgentVersion, r.TTY, r.Pane, r.Caller} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Payload)))
	dst = append(dst, r.Payload...)

	body := dst[start+HeadSize:]
	binary.LittleEndian.PutUint32(dst[start+4:], uint32(len(body)))
	binary.LittleEndian.PutUint32(dst[start+8:], sum(body))
	return dst
}

// Decode reads the body of a record. Bytes after the last known field belong
// to a later version and are left alone.
func Decode(body []byte) (r Record, err error) {
	if len(body) < 2 {
		return Record{}, ErrBroken
	}
	r.Type = body[0]
	r.Nested = body[1]&flagNested != 0
	r.Truncated = body[1]&flagTruncated != 0
	in := fields{rest: body[2:]}
	if nanos := in.varint(); nanos != 0 {
		r.Time = time.Unix(0, nanos)
	}
	r.PID = int(in.varint())
	r.Start = in.uvarint()
	for _, s := range [...]*string{&r.ID, &r.Agent, &r.Event, &r.Cwd, &r.AgentVersion, &r.TTY, &r.Pane, &r.Caller} {
		*s = string(in.bytes())
	}
	// A copy: the body is in a buffer that the reader uses again.
	if p := in.bytes(); len(p) > 0 {
		r.Payload = append([]byte(nil), p...)
	}
	if in.broken {
		return Record{}, ErrBroken
	}
	return r, nil
}

// fields takes a body apart; once broken it gives zeros.
type fields struct {
	rest   []byte
	broken bool
}

func (f *fields) step(n int) bool {
	if n <= 0 || f.broken {
		f.broken = true
		return false
	}
	f.rest = f.rest[n:]
	return true
}

func (f *fields) varint() int64 {
	v, n := binary.Varint(f.rest)
	if !f.step(n) {
		return 0
	}
	return v
}

func (f *fields) uvarint() uint64 {
	v, n := binary.Uvarint(f.rest)
	if !f.step(n) {
		return 0
	}
	return v
}

func (f *fields) bytes() []byte {
	n := f.uvarint()
	if f.broken || n > uint64(len(f.rest)) {
		f.broken = true
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}
