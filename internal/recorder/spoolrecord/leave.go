package spoolrecord

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// A spool that no daemon reads must not fill the disk: hooks keep being called while a
// daemon is broken. At its limit it refuses what is new. Dropping the oldest instead would
// make every further hook delete as well as write, and would discard the records that show
// how the trouble began.
const (
	maxFiles = 20_000
	maxBytes = 64 << 20
)

// ErrFull says that the spool is at its cap.
var ErrFull = errors.New("spool is full: no daemon has swept it; run hookmux status")

const suffix = ".rec"

// Leave writes rec to a file of its own, which appears at once and whole. The
// name begins with the id and so sorts by time; it also carries the size, so
// that the cap is known without looking at every file. The same id left twice
// is one file.
func Leave(dir string, rec *Record) error {
	if !isPlain(rec.ID) {
		return errors.New("spool: id " + strconv.Quote(rec.ID) + " can't name a file; use letters, digits, - and _")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	body := Append(nil, rec, checksum)
	if isFull(dir, int64(len(body))) {
		return ErrFull
	}
	name := rec.ID + "." + strconv.Itoa(len(body)) + suffix
	return files.WriteVia(".tmp-"+rec.ID+"-*", filepath.Join(dir, name), body)
}

func isFull(dir string, more int64) bool {
	names, err := NamesIn(dir)
	if err != nil {
		return false // writing will say what is wrong
	}
	count, sum := 0, more
	for _, name := range names {
		if _, size, ok := ParseName(name); ok {
			count++
			sum += size
		}
	}
	return count >= maxFiles || sum > maxBytes
}

// ParseName takes <id>.<size>.rec apart.
func ParseName(name string) (id string, size int64, ok bool) {
	stem, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return "", 0, false
	}
	id, digits, ok := strings.Cut(stem, ".")
	if !ok || !isPlain(id) {
		return "", 0, false
	}
	size, err := strconv.ParseInt(digits, 10, 64)
	return id, size, err == nil && size >= 0
}

func isPlain(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// NamesIn lists the names in a folder, in no order.
func NamesIn(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // only read from
	return d.Readdirnames(-1)
}

// checksum is CRC-32 (IEEE). Its table is made when a record is left, which is rare.
func checksum(data []byte) uint32 {
	const polynomial = 0xedb88320
	var table [256]uint32
	for i := range table {
		row := uint32(i)
		for range 8 {
			row = row>>1 ^ polynomial&-(row&1)
		}
		table[i] = row
	}
	sum := ^uint32(0)
	for _, b := range data {
		sum = sum>>8 ^ table[byte(sum)^b]
	}
	return ^sum
}
