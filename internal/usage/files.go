package usage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
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
	maxFiles    = 100_000 // of one agent
	maxDepth    = 12      // of folders, through links as well
	maxDocument = 64 << 20
	sampleSize  = 64 // bytes by which a file is known again, in several places
)

// found is a file of an agent's.
type found struct {
	path   string
	kind   *fileKind
	size   int64
	mtime  int64
	unique uniqueFile
}

// rootsOf are the folders of a store.
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

// find lists the files below a root, oldest change first. It goes through links: an
// agent that moves its records elsewhere goes on being counted. A folder or file that is
// reached twice counts once.
func (s *store) find(ctx context.Context, root string, seen map[uniqueFile]bool) []found {
	var list []found
	var walk func(dir, below string, depth int)
	walk = func(dir, below string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil || depth > maxDepth || ctx.Err() != nil {
			return // what can't be read now may be later; what was counted stays
		}
		for _, e := range entries {
			if len(list) >= maxFiles {
				return
			}
			path, rel := filepath.Join(dir, e.Name()), filepath.Join(below, e.Name())
			kind := s.kindOf(rel)
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
	return list
}

// addLog counts a database's write-ahead log in: that is what changes first.
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
	// Rewritten is when what had been read was changed, in milliseconds; 0: never.
	Rewritten int64  `json:"rewritten,omitempty"`
	Agent     string `json:"agent,omitempty"` // whose it is, where it was rewritten
	// Samples are pieces of what was read, by their place: a file that has others
	// there was rewritten and is read from the start.
	Samples map[int64][]byte `json:"samples,omitempty"`
	State   fileState        `json:"state,omitzero"`
}

// unchanged reports whether nothing happened to a file since it was read.
func (p *position) unchanged(f *found) bool {
	return p.Size == f.size && p.Mtime == f.mtime && p.Unique == f.unique
}

// reading reads one agent's files.
type reading struct {
	lines map[*fileKind]*lineReader
}

// read reads what is new in a file. It gives back where it is then.
func (r *reading) read(ctx context.Context, f *found, was *position, out *sink) (position, error) {
	now := position{Unique: f.unique, Size: f.size, Mtime: f.mtime}
	if f.kind.format.database != nil {
		return now, f.kind.format.database(f.path, out)
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
	if f.kind.format.document != nil {
		doc, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
		if err == nil && len(doc) <= maxDocument {
			f.kind.format.document(&now.State, doc, filepath.Base(f.path), out)
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
	row := func(line []byte, offset int64) { f.kind.format.row(&now.State, line, offset, out) }
	if strings.HasSuffix(f.path, ".zst") {
		unpacked, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxLine))
		if err != nil {
			return now, err
		}
		defer unpacked.Close()
		_, err = lines.read(endingReader{ctx, unpacked}, 0, row)
		return now, err
	}
	if was != nil {
		now.Rewritten, now.Agent = was.Rewritten, was.Agent
		now.State = fileState{Session: was.State.Session, Project: was.State.Project} // whose it was
	}
	if was != nil && was.Offset > 0 && (was.Unique != now.Unique || was.Size > now.Size || !was.isKnown(file)) {
		now.Rewritten, now.Agent = time.Now().UnixMilli(), out.agent
		out.rewritten(now.State.Session, now.State.Project)
	}
	if was != nil && was.Offset <= now.Size && was.isKnown(file) {
		now.State, now.Offset = was.State, was.Offset
		// What the thread before had copied is known by now.
		now.State.Codex.Copies = now.State.Codex.Copies && was.Offset == 0
	}
	if _, err := file.Seek(now.Offset, io.SeekStart); err != nil {
		return now, err
	}
	now.Offset, err = lines.read(endingReader{ctx, file}, now.Offset, row)
	now.takeSamples(file)
	return now, err
}

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
// and where reading goes on.
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

// dayOf is the local day that a moment is in.
func dayOf(t time.Time) string { return t.Local().Format(time.DateOnly) }
