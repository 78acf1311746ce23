package audit

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Bounds of what is read: any program of the user may put something else in a file's place.
const (
	maxHead = 64 << 20
	maxFile = 1 << 30
)

// Report is what a check found.
type Report struct {
	Records int64   `json:"records"` // that were read
	Files   int     `json:"files"`
	Removed int     `json:"removed"` // files that the journal isn't kept for; their signed ends are there
	Seq     int64   `json:"seq"`     // of the last record
	Hash    string  `json:"hash"`
	Gaps    []GapAt `json:"gaps"`
	Problem *Misfit `json:"problem,omitempty"`
}

// GapAt is a gap that the trail itself tells of.
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
		// Records are handed out only once it is clear that nobody wrote meanwhile.
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
	files := c.files
	if c.state.File != "" {
		files = append(files, head{File: c.state.File, First: c.state.First, Last: c.state.Seq, Before: c.state.Before,
			Hash: c.state.Hash})
	}
	for _, f := range files {
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

// content is a file as the trail says it is: what it holds without the last change, and
// that change. A change that was cut off is finished here.
func (c *check) content(name string, at int64, change string) (string, *Misfit) {
	b, err := files.Read(filepath.Join(c.dir, name), maxFile)
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && at == 0) {
		return "", &Misfit{File: name, What: "it can't be read: " + errText(err)}
	}
	if int64(len(b)) < at {
		return string(b), &Misfit{File: name, What: fmt.Sprintf("its end is missing: it has %d bytes of at least %d", len(b), at)}
	}
	if !strings.HasPrefix(change, string(b[at:])) {
		return string(b), &Misfit{File: name, What: "its end isn't what was signed"}
	}
	return string(b[:at]) + change, nil
}

func errText(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "it is missing"
	}
	return err.Error()
}

// readHeads reads heads.jsonl: which files there must be.
func (c *check) readHeads() *Misfit {
	text, bad := c.content(headsFile, c.state.HeadsAt, c.state.HeadLines)
	n, prev := int64(0), ""
	for line := range strings.Lines(text) {
		n++
		var one head
		if err := readSigned(c.key, line, &one); err != nil {
			return &Misfit{File: headsFile, Line: int(n), What: err.Error()}
		}
		if one.N != n || one.Prev != prev {
			return &Misfit{File: headsFile, Line: int(n), What: "a line before it is missing, or it is in another place"}
		}
		prev = sum([]byte(line))
		if one.Removed {
			if len(c.files) == 0 || c.files[0].File != one.File {
				return &Misfit{File: headsFile, Line: int(n), What: "it removes a file that isn't the oldest"}
			}
			c.files = c.files[1:]
			c.removed++
			continue
		}
		c.files = append(c.files, one)
	}
	if bad != nil {
		return bad
	}
	if n != c.state.Heads || prev != c.state.HeadsHash {
		return &Misfit{File: headsFile, Line: int(n), What: "lines are missing at its end"}
	}
	return nil
}

// readFile checks one file of records from its first to its last.
func (c *check) readFile(f head, each func(*Record, string)) *Misfit {
	var at int64
	var text string
	var bad *Misfit
	if f.File == c.state.File {
		at = c.state.At
		text, bad = c.content(f.File, at, c.state.Lines)
	} else {
		b, err := files.Read(filepath.Join(c.dir, f.File), maxFile)
		if err != nil {
			return &Misfit{File: f.File, What: "it can't be read: " + errText(err)}
		}
		text = string(b)
	}
	seq, prev, n := f.First, f.Before, 0
	for line := range strings.Lines(text) {
		n++
		r, hash, err := readLine(line)
		switch {
		case err != nil:
			return &Misfit{File: f.File, Line: n, Seq: seq, What: err.Error()}
		case r.Seq != seq || r.Prev != prev:
			return &Misfit{File: f.File, Line: n, Seq: seq, What: fmt.Sprintf(
				"record %d is in its place: records were removed, added or moved", r.Seq)}
		case seq > f.Last:
			return &Misfit{File: f.File, Line: n, Seq: seq, What: "it was added behind the signed end"}
		}
		each(&r, line)
		seq, prev = seq+1, hash
	}
	switch {
	case bad != nil && bad.Line == 0:
		bad.Line, bad.Seq = n+1, seq
		return bad
	case seq-1 < f.Last:
		return &Misfit{File: f.File, Line: n + 1, Seq: seq, What: fmt.Sprintf("records %d to %d are missing", seq, f.Last)}
	case prev != f.Hash:
		return &Misfit{File: f.File, Line: n, Seq: seq - 1, What: "it isn't the record that was signed"}
	}
	return nil
}
