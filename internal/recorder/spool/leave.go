package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/atomicfile"
)

// A spool that nobody sweeps must not fill the disk: hooks go on being called
// while a hub is broken. At its cap it refuses what is new. Dropping the
// oldest instead would make every further hook delete as well as write, and
// would throw away the records that tell how the trouble began.
const (
	maxFiles = 20_000
	maxBytes = 64 << 20
)

// ErrFull says that the spool is at its cap.
var ErrFull = errors.New("spool is full: no hub has swept it; run hookmux status")

// File is one record that a hook left.
type File struct {
	Path string
	ID   string
	Size int64
}

const suffix = ".rec"

// Leave writes rec to a file of its own, which appears at once and whole. The
// name begins with the id and so sorts by time; it also carries the size, so
// that the cap is known without looking at every file. The same id left twice
// is one file.
func Leave(dir string, rec *Record) error {
	if !plain(rec.ID) {
		return errors.New("spool: id " + strconv.Quote(rec.ID) + " can't name a file; use letters, digits, - and _")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	body := Append(nil, rec)
	if full(dir, int64(len(body))) {
		return ErrFull
	}
	name := rec.ID + "." + strconv.Itoa(len(body)) + suffix
	return atomicfile.WriteVia(".tmp-"+rec.ID+"-*", filepath.Join(dir, name), body)
}

func full(dir string, more int64) bool {
	names, err := namesIn(dir)
	if err != nil {
		return false // writing will say what is wrong
	}
	count, sum := 0, more
	for _, name := range names {
		if _, size, ok := parseName(name); ok {
			count++
			sum += size
		}
	}
	return count >= maxFiles || sum > maxBytes
}

// parseName takes <id>.<size>.rec apart.
func parseName(name string) (id string, size int64, ok bool) {
	stem, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return "", 0, false
	}
	id, digits, ok := strings.Cut(stem, ".")
	if !ok || !plain(id) {
		return "", 0, false
	}
	size, err := strconv.ParseInt(digits, 10, 64)
	return id, size, err == nil && size >= 0
}

func plain(id string) bool {
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

// staleTemp is the age at which an unfinished file has no writer any more.
const staleTemp = time.Hour

// Sweep lists what hooks left, oldest first; the caller reads each with
// ReadFile and removes it once journalled. It clears away what writers that
// died left behind. A directory that isn't there is an empty one.
func Sweep(dir string) ([]File, error) {
	names, err := namesIn(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []File
	for _, name := range names {
		path := filepath.Join(dir, name)
		if id, size, ok := parseName(name); ok {
			files = append(files, File{Path: path, ID: id, Size: size})
			continue
		}
		if strings.HasPrefix(name, ".tmp-") {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > staleTemp {
				_ = os.Remove(path) // the next sweep tries again
			}
		}
	}
	return files, nil
}
