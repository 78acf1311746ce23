package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Report lists what a check found.
type Report struct {
	Records int64   `json:"records"` // that were read
	Files   int     `json:"files"`
	Removed int     `json:"removed"` // files that the journal isn't kept for; their signed ends are there
	Seq     int64   `json:"seq"`     // of the last record
	Hash    string  `json:"hash"`
	Gaps    []GapAt `json:"gaps"`
	Problem *Misfit `json:"problem,omitempty"`
}

// GapAt is a gap that the trail itself reports.
type GapAt struct {
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Gap
}

// Misfit is the first thing that doesn't fit.
type Misfit struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Seq  int64  `json:"seq,omitempty"` // of the record that should be there
	What string `json:"what"`
}

func (m *Misfit) Error() string {
	switch {
	case m.Seq > 0:
		return fmt.Sprintf("%s, line %d (record %d): %s", m.File, m.Line, m.Seq, m.What)
	case m.Line > 0:
		return fmt.Sprintf("%s, line %d: %s", m.File, m.Line, m.What)
	}
	return m.File + ": " + m.What
}

// ErrBusy says that the trail changed each time it was read.
var ErrBusy = errors.New("the trail is being written all the time; try again")

// Verify checks the whole trail. each, unless it is nil, gets every record with its line,
// also when a later one doesn't fit. The error is about reading, not about what was read.
func Verify(dirs paths.Dirs, each func(r *Record, line string)) (*Report, error) {
	if each == nil {
		each = func(*Record, string) {}
	}
	dir := filepath.Join(dirs.State, folder)
	for range 20 {
		before, err := readHead(dir)
		if err != nil {
			return nil, err
		}
		// Records are only handed out once it is clear that nothing was written meanwhile.
		rep, err := verify(dirs, before, func(*Record, string) {})
		if err != nil {
			return nil, err
		}
		after, err := readHead(dir)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(before, after) {
			_, err := verify(dirs, before, each)
			return rep, err
		}
	}
	return nil, ErrBusy
}

func readHead(dir string) ([]byte, error) {
	b, err := files.Read(filepath.Join(dir, headFile), maxHead)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func verify(dirs paths.Dirs, headLine []byte, each func(*Record, string)) (*Report, error) {
	rep := &Report{Gaps: []GapAt{}}
	c := &check{dir: filepath.Join(dirs.State, folder)}
	bad, err := c.run(dirs, headLine, func(r *Record, line string) {
		rep.Records++
		if r.Type == TypeGap && r.Gap != nil {
			rep.Gaps = append(rep.Gaps, GapAt{Seq: r.Seq, Time: r.Time, Gap: *r.Gap})
		}
		each(r, line)
	})
	rep.Files, rep.Removed, rep.Seq, rep.Hash = c.read, c.removed, c.state.Seq, c.state.Hash
	rep.Problem = bad
	return rep, err
}

// check is one check.
type check struct {
	dir     string
	key     ed25519.PublicKey
	state   state
	files   []head // that must be there, without the one that is written
	read    int
	removed int
}

func (c *check) run(dirs paths.Dirs, headLine []byte, each func(*Record, string)) (*Misfit, error) {
	var err error
	if c.key, err = readPublic(dirs); err != nil {
		return &Misfit{File: markerFile, What: err.Error()}, nil
	}
	names, err := listFiles(c.dir)
	if err != nil {
		return nil, err
	}
	if c.key == nil {
		if isBegun(names) {
			return &Misfit{File: filepath.Join(dirs.Data, markerFile), What: "the key to check the trail with is missing"}, nil
		}
		return nil, nil // nothing was decided yet
	}
	if headLine == nil {
		return &Misfit{File: headFile, What: "it is missing: the trail, or its end, was deleted"}, nil
	}
	if err := readSigned(c.key, string(headLine), &c.state); err != nil {
		return &Misfit{File: headFile, What: err.Error()}, nil
	}
	if bad := c.readHeads(); bad != nil {
		return bad, nil
	}
	expected := []string{headFile, headsFile}
	list := c.files
	if c.state.File != "" {
		list = append(list, head{File: c.state.File, First: c.state.First, Last: c.state.Seq, Before: c.state.Before,
			Hash: c.state.Hash})
	}
	for _, f := range list {
		expected = append(expected, f.File)
		if bad := c.readFile(f, each); bad != nil {
			return bad, nil
		}
		c.read++
	}
	for _, name := range names {
		if !slices.Contains(expected, name) && !strings.HasPrefix(name, ".") { // a dot: being written
			return &Misfit{File: name, What: "this file isn't part of the trail"}, nil
		}
	}
	if old, _ := filepath.Glob(filepath.Join(dirs.State, aside+"*")); len(old) > 0 {
		return &Misfit{File: filepath.Base(old[0]), What: "an earlier trail was changed, and put aside there; once you've " +
			"looked into it, move it away"}, nil
	}
	return nil, nil
}

func listFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Bounds of reading. The daemon writes batches, which fit many times.
const (
	readAhead = 64 << 10
	maxLine   = 64 << 20
	maxHead   = 256 << 20 // head.json has the last batch in it
)

// eachLine calls each for the lines of a file as the trail says it is: what it holds
// without the last change, and that change. A change that was cut off is finished here.
// It returns what doesn't fit about the file as a whole, after each of its lines; each
// returns false to end it.
func (c *check) eachLine(name string, at int64, change string, each func(line string) bool) *Misfit {
	f, err := files.Open(filepath.Join(c.dir, name))
	if errors.Is(err, fs.ErrNotExist) && at == 0 {
		return eachLineOf(name, strings.NewReader(change), each)
	}
	if err != nil {
		return &Misfit{File: name, What: "it can't be read: " + errText(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return &Misfit{File: name, What: "it can't be read: " + err.Error()}
	}
	var bad *Misfit
	switch size := info.Size(); {
	case size < at:
		bad = &Misfit{File: name, What: fmt.Sprintf("its end is missing: it has %d bytes of at least %d", size, at)}
	case size-at > int64(len(change)):
		bad = &Misfit{File: name, What: "its end isn't what was signed"}
	default:
		end := make([]byte, size-at)
		if _, err := f.ReadAt(end, at); err != nil && !errors.Is(err, io.EOF) {
			return &Misfit{File: name, What: "it can't be read: " + err.Error()}
		}
		if !strings.HasPrefix(change, string(end)) {
			bad = &Misfit{File: name, What: "its end isn't what was signed"}
		}
	}
	if bad != nil {
		if unread := eachLineOf(name, f, each); unread != nil {
			return unread
		}
		return bad
	}
	return eachLineOf(name, io.MultiReader(io.LimitReader(f, at), strings.NewReader(change)), each)
}

// eachLineOfEnded calls each for the lines of a file that nothing is added to any more.
func (c *check) eachLineOfEnded(name string, each func(line string) bool) *Misfit {
	f, err := files.Open(filepath.Join(c.dir, name))
	if err != nil {
		return &Misfit{File: name, What: "it can't be read: " + errText(err)}
	}
	defer f.Close()
	return eachLineOf(name, f, each)
}

// eachLineOf calls each for every line, of which one at a time is in memory.
func eachLineOf(name string, in io.Reader, each func(line string) bool) *Misfit {
	r := bufio.NewReaderSize(in, readAhead)
	var long []byte
	for {
		piece, err := r.ReadSlice('\n')
		long = append(long, piece...)
		if len(long) > maxLine {
			return &Misfit{File: name, What: fmt.Sprintf("a line of it is longer than %d MB", maxLine>>20)}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return &Misfit{File: name, What: "it can't be read: " + err.Error()}
		}
		if len(long) > 0 && !each(string(long)) || err != nil {
			return nil
		}
		long = long[:0]
	}
}

func errText(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "it is missing"
	}
	return err.Error()
}

// readHeads reads heads.jsonl: which files there must be.
func (c *check) readHeads() *Misfit {
	n, prev := int64(0), ""
	var wrong *Misfit
	bad := c.eachLine(headsFile, c.state.HeadsAt, c.state.HeadLines, func(line string) bool {
		n++
		wrong = c.readHead(line, n, prev)
		prev = sum([]byte(line))
		return wrong == nil
	})
	if wrong = cmp.Or(wrong, bad); wrong != nil {
		return wrong
	}
	if n != c.state.Heads || prev != c.state.HeadsHash {
		return &Misfit{File: headsFile, Line: int(n), What: "lines are missing at its end"}
	}
	return nil
}

// readHead reads the n-th line of heads.jsonl; prev is the hash of the one before.
func (c *check) readHead(line string, n int64, prev string) *Misfit {
	var one head
	if err := readSigned(c.key, line, &one); err != nil {
		return &Misfit{File: headsFile, Line: int(n), What: err.Error()}
	}
	switch {
	case one.N != n || one.Prev != prev:
		return &Misfit{File: headsFile, Line: int(n), What: "a line before it is missing, or it is in another place"}
	case !one.Removed:
		c.files = append(c.files, one)
	case len(c.files) == 0 || c.files[0].File != one.File:
		return &Misfit{File: headsFile, Line: int(n), What: "it removes a file that isn't the oldest"}
	default:
		c.files = c.files[1:]
		c.removed++
	}
	return nil
}

// readFile checks one file of records from its first to its last.
func (c *check) readFile(f head, each func(*Record, string)) *Misfit {
	seq, prev, n := f.First, f.Before, 0
	var wrong *Misfit
	line := func(line string) bool {
		n++
		r, hash, err := readLine(line)
		what := ""
		switch {
		case err != nil:
			what = err.Error()
		case r.Seq != seq || r.Prev != prev:
			what = fmt.Sprintf("record %d is in its place: records were removed, added or moved", r.Seq)
		case seq > f.Last:
			what = "it was added behind the signed end"
		}
		if what != "" {
			wrong = &Misfit{File: f.File, Line: n, Seq: seq, What: what}
			return false
		}
		each(&r, line)
		seq, prev = seq+1, hash
		return true
	}
	var bad *Misfit
	if f.File == c.state.File {
		bad = c.eachLine(f.File, c.state.At, c.state.Lines, line)
	} else {
		bad = c.eachLineOfEnded(f.File, line)
	}
	switch {
	case wrong != nil:
		return wrong
	case bad != nil:
		bad.Line, bad.Seq = n+1, seq
		return bad
	case seq-1 < f.Last:
		return &Misfit{File: f.File, Line: n + 1, Seq: seq, What: fmt.Sprintf("records %d to %d are missing", seq, f.Last)}
	case prev != f.Hash:
		return &Misfit{File: f.File, Line: n, Seq: seq - 1, What: "it isn't the record that was signed"}
	}
	return nil
}
