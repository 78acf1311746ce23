package usage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/klauspost/compress/zstd"
)

// Bounds of looking for files.
const (
	maxFiles    = 100_000   // of one agent
	maxEntries  = 1_000_000 // that are looked at for them
	maxBeside   = 20_000    // the same, in a folder that isn't the agent's own
	maxDepth    = 12        // of folders, through links as well
	maxDocument = 64 << 20
	maxPiece    = 64 << 20 // of one file at once: a larger one doesn't hide what others have
	maxUnpacked = 2 << 30  // of a compressed file
	sampleSize  = 64       // bytes by which a file is known again, in several places
)

// found is a file of an agent's.
type found struct {
	path   string
	kind   *fileKind
	size   int64
	mtime  int64
	unique uniqueFile
}

// rootsOf returns the folders of a store.
func (s *store) rootsOf(home string, getenv func(string) string) []string {
	var list []string
	for _, r := range s.roots {
		dirs := []string{filepath.Join(home, r.home)}
		if r.variable != "" {
			// Claude Code takes several, divided by commas.
			for _, dir := range strings.Split(getenv(r.variable), ",") {
				if filepath.IsAbs(dir) {
					dirs = append(dirs, dir)
				}
			}
		}
		for _, dir := range dirs {
			if dir = filepath.Join(dir, r.below); !slices.Contains(list, dir) {
				list = append(list, dir)
			}
		}
	}
	return list
}

// find lists the files below a root, oldest change first. It follows links: if an agent moves its
// records elsewhere, they are still counted. A folder or file that is reached twice is listed
// once. all is false if there are more than limit entries to look at.
func (s *store) find(ctx context.Context, root string, limit int, seen map[uniqueFile]bool) (list []found, all bool) {
	inner := s.innerFolders(root)
	var walk func(dir, below string, depth int)
	walk = func(dir, below string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil || depth > maxDepth || ctx.Err() != nil {
			return // what can't be read now may be later; what was counted stays
		}
		for _, e := range entries {
			if limit--; limit < 0 || len(list) >= maxFiles {
				return
			}
			path, rel := filepath.Join(dir, e.Name()), filepath.Join(below, e.Name())
			kind := s.kindOf(rel)
			for i := 0; kind == nil && i < len(inner); i++ {
				kind = s.kindOf(filepath.Join(inner[i], rel))
			}
			isDir := e.IsDir()
			if !isDir && kind == nil && e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			info, err := os.Stat(path)
			if err != nil {
				continue
			}
			unique := uniqueOf(info)
			if info.IsDir() {
				if !seen[unique] {
					seen[unique] = true
					walk(path, rel, depth+1)
				}
				continue
			}
			if kind == nil || !info.Mode().IsRegular() || seen[unique] {
				continue
			}
			seen[unique] = true
			one := found{path: path, kind: kind, size: info.Size(), mtime: info.ModTime().UnixNano(), unique: unique}
			if kind.format.database != nil {
				one.addLog()
			}
			list = append(list, one)
		}
	}
	walk(root, "", 0)
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.mtime, b.mtime), strings.Compare(a.path, b.path))
	})
	return list, limit >= 0 && len(list) < maxFiles
}

// maxInner is how deep below its agent's folder a record may be that a session names.
const maxInner = 4

// innerFolders returns the last names of a folder that a session's record is in: patterns begin
// at the agent's folder, which isn't known then.
func (s *store) innerFolders(root string) []string {
	var list []string
	below := ""
	for range maxInner {
		below = filepath.Join(filepath.Base(root), below)
		root = filepath.Dir(root)
		list = append(list, below)
	}
	return list
}

// recordsBeside is the folder that has a session's records: the one with its record in it, or
// the session's own above that.
func recordsBeside(agent, record string) string {
	dir := filepath.Dir(record)
	for i := range stores() {
		if one := &stores()[i]; one.agent == agent {
			if kind := one.kindOf(strings.TrimPrefix(record, "/")); kind != nil {
				for range kind.session - 1 {
					dir = filepath.Dir(dir)
				}
			}
		}
	}
	return dir
}

// addLog includes a database's write-ahead log: that is what changes first.
func (f *found) addLog() {
	if info, err := os.Stat(f.path + "-wal"); err == nil {
		f.size += info.Size()
		f.mtime = max(f.mtime, info.ModTime().UnixNano())
	}
}

func (s *store) kindOf(rel string) *fileKind {
	rel = filepath.ToSlash(rel)
	for i := range s.files {
		k := &s.files[i]
		if ok, _ := doublestar.Match(k.match, rel); !ok {
			continue
		}
		if k.not != "" {
			if no, _ := doublestar.Match(k.not, rel); no {
				continue
			}
		}
		return k
	}
	return nil
}

// position is how far a file has been read.
type position struct {
	Unique uniqueFile `json:"unique"`
	Size   int64      `json:"size"`
	Mtime  int64      `json:"mtime"`
	Offset int64      `json:"offset"`
	Read   int64      `json:"read"` // when, in milliseconds
	// Doubts are why its sessions may have used more than it says.
	Doubts []rewrite `json:"doubts,omitempty"`
	// Partial says that the rest is read with the next look.
	Partial bool `json:"partial,omitempty"`
	// rows are how far a database was read, newest that only the rows after them were.
	rows   rowsRead
	newest bool
	// Samples are pieces of what was read, by their place: a file that has others
	// there was rewritten and is read from the start.
	Samples map[int64][]byte `json:"samples,omitempty"`
	State   fileState        `json:"state,omitzero"`
}

// unchanged reports whether nothing happened to a file since it was read.
func (p *position) unchanged(f *found) bool {
	return !p.Partial && p.Size == f.size && p.Mtime == f.mtime && p.Unique == f.unique
}

// isPartial reports whether there's more to read in the file.
func (p *position) isPartial() bool { return p != nil && p.Partial }

// maxDoubted is how many sessions of one file may be doubted.
const maxDoubted = 16

// doubt notes a doubt, of each session the first one.
func (p *position) doubt(r *rewrite) {
	if len(p.Doubts) < maxDoubted && !slices.ContainsFunc(p.Doubts, func(one rewrite) bool { return one.Session == r.Session }) {
		p.Doubts = append(slices.Clip(p.Doubts), *r)
	}
}

// Records only grow: one that was written to and is as long as before lost something, if
// that write is over.
const (
	writeWithin = 2 * time.Second
	// lossWithin is how long after the last look that's likely. Later, a backup or an
	// archive is.
	lossWithin = time.Hour
)

// lost reports whether a file was written to without getting longer, and whether that's
// for sure.
func (p *position) lost(now *position) (lost, sure bool) {
	if p.Partial || p.Unique != now.Unique || p.Size != now.Size || p.Mtime == now.Mtime ||
		now.Mtime-p.Read*int64(time.Millisecond) > int64(lossWithin) {
		return false, false
	}
	return true, time.Since(time.Unix(0, now.Mtime)) > writeWithin
}

// reading reads one agent's files.
type reading struct {
	lines      map[*fileKind]*lineReader
	everything bool // also the rows of databases that are final
}

// read reads what is new in a file. It returns the position reached.
func (r *reading) read(ctx context.Context, f *found, was *position, out *sink) (position, error) {
	now := position{Unique: f.unique, Size: f.size, Mtime: f.mtime}
	if f.kind.format.database != nil {
		now.rows, now.newest = rowsRead{}, !r.everything
		if was != nil && !r.everything {
			maps.Copy(now.rows, was.rows)
		}
		return now, f.kind.format.database(f.path, now.rows, out)
	}
	file, err := openRecord(f.path)
	if err != nil {
		return now, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return now, err
	}
	if !info.Mode().IsRegular() {
		return now, errors.New(f.path + " is no regular file")
	}
	now.Size, now.Mtime, now.Unique = info.Size(), info.ModTime().UnixNano(), uniqueOf(info)
	defer out.flush()
	if f.kind.folder != nil {
		now.State.Project = f.kind.folder(f.path)
	}
	if f.kind.format.document != nil {
		doc, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
		if name := filepath.Base(f.path); len(doc) > maxDocument {
			session, _, _ := strings.Cut(name, ".")
			out.doubt(session, "", tooLarge, info.ModTime())
		} else if err == nil {
			f.kind.format.document(&now.State, doc, name, out)
			if out.odd {
				out.doubt(now.State.Session, "", unreadable, info.ModTime())
			}
		}
		return now, err
	}
	if r.lines == nil {
		r.lines = map[*fileKind]*lineReader{}
	}
	lines := r.lines[f.kind]
	if lines == nil {
		lines = newLineReader(f.kind.format.markers)
		r.lines[f.kind] = lines
	}
	if f.kind.session > 0 {
		dir := f.path
		for range f.kind.session {
			dir = filepath.Dir(dir)
		}
		now.State.Session = filepath.Base(dir)
	}
	lost := false
	row := func(line []byte, offset int64, ended bool) {
		out.odd = false
		ok := f.kind.format.row(&now.State, line, offset, out)
		if !ok && ended {
			line = repaired(line)
			ok = line != nil && f.kind.format.row(&now.State, line, offset, out)
		}
		lost = lost || ended && (!ok || out.odd)
	}
	defer func() {
		switch {
		case lost:
			out.doubt(now.State.Session, now.State.Project, unreadable, info.ModTime())
		case lines.tooLong:
			out.doubt(now.State.Session, now.State.Project, tooLarge, info.ModTime())
		}
	}()
	if strings.HasSuffix(f.path, ".zst") {
		unpacked, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxLine))
		if err != nil {
			return now, err
		}
		defer unpacked.Close()
		all := &io.LimitedReader{R: endingReader{ctx, unpacked}, N: maxUnpacked}
		_, err = lines.read(all, 0, row)
		lines.tooLong = lines.tooLong || all.N == 0
		return now, err
	}
	if was != nil {
		if lost, sure := was.lost(&now); lost && !sure && was.isKnown(file) {
			return *was, nil // the next look knows
		} else if lost {
			out.doubt(was.State.Session, was.State.Project, "", time.Now())
		}
		now.State = fileState{Session: was.State.Session, Project: cmp.Or(was.State.Project, now.State.Project)} // whose it was
	}
	if was != nil && was.Offset > 0 && (was.Unique != now.Unique || was.Size > now.Size || !was.isKnown(file)) {
		out.doubt(now.State.Session, now.State.Project, "", time.Now())
	}
	if was != nil && was.Offset <= now.Size && was.isKnown(file) {
		folder := now.State.Project
		now.State, now.Offset = was.State, was.Offset
		now.State.Project = cmp.Or(now.State.Project, folder) // it may be said later
		// What the thread before had copied is known by now.
		now.State.Codex.Copies = now.State.Codex.Copies && was.Offset == 0
	}
	if _, err := file.Seek(now.Offset, io.SeekStart); err != nil {
		return now, err
	}
	piece := &io.LimitedReader{R: endingReader{ctx, file}, N: maxPiece}
	now.Offset, err = lines.read(piece, now.Offset, row)
	now.Partial = piece.N == 0
	now.takeSamples(file)
	return now, err
}

// Why a session may have used more than its records say.
const (
	unreadable = "part of its records can't be read"
	tooLarge   = "a record of its is too large to be read"
)

// endingReader ends with its context.
type endingReader struct {
	ctx context.Context
	in  io.Reader
}

func (r endingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// takeSamples remembers what a file has in a few places: at its start, in its middle,
// and where reading continues.
func (p *position) takeSamples(file io.ReaderAt) {
	p.Samples = map[int64][]byte{}
	for _, at := range []int64{0, p.Offset / 3, p.Offset / 2, p.Offset - sampleSize} {
		at = max(0, at)
		piece := make([]byte, min(sampleSize, p.Offset-at))
		if n, err := file.ReadAt(piece, at); err != nil || n < len(piece) {
			continue
		}
		p.Samples[at] = piece
	}
}

func (p *position) isKnown(file io.ReaderAt) bool {
	for at, want := range p.Samples {
		have := make([]byte, len(want))
		if _, err := file.ReadAt(have, at); err != nil || !bytes.Equal(have, want) {
			return false
		}
	}
	return len(p.Samples) > 0 || p.Offset == 0
}

// dayOf returns the local day that a moment is in.
func dayOf(t time.Time) string { return t.Local().Format(time.DateOnly) }
