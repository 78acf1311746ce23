package usage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Scanner reads agents' records into a store. One goroutine uses it.
type Scanner struct {
	store     *Store
	home      string
	getenv    func(string) string
	now       func() time.Time
	positions map[string]*position
	changed   func(was, is *Call)
	window    func(Window) Window
	progress  func(Progress)
	rewritten func(rewrite)
	// rest is how long a scan in the background pauses for each moment it worked; 0: it
	// doesn't.
	rest    float64
	reading reading
}

// rewrite is a change of records that had been read; their agent only adds to them.
type rewrite struct {
	agent, session, project string
	at                      time.Time
	why                     string // "" is that it was rewritten
}

// everySession is the session of what is about all of an agent's.
const everySession = "*"

func (s *Scanner) tellRewritten(r rewrite) {
	if s.rewritten != nil {
		s.rewritten(r)
	}
}

// tellEarlier tells of what was rewritten while earlier daemons ran.
func (s *Scanner) tellEarlier() {
	for _, p := range s.positions {
		if p.Rewritten > 0 {
			s.tellRewritten(rewrite{agent: p.Agent, session: p.State.Session, project: p.State.Project, at: time.UnixMilli(p.Rewritten)})
		}
	}
}

// lookFor tells of the record of a live session that was read and is gone.
func (s *Scanner) lookFor(agent, path string) {
	was := s.positions[path]
	if was == nil || was.Rewritten > 0 {
		return
	}
	for _, name := range []string{path, path + ".zst"} { // Codex compresses its records
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	was.Rewritten, was.Agent = s.now().UnixMilli(), agent
	s.tellRewritten(rewrite{agent: agent, session: was.State.Session, project: was.State.Project, at: s.now()})
}

// Progress is how far a scan is.
type Progress struct {
	Files int   `json:"files"`
	Of    int   `json:"of"`
	Bytes int64 `json:"bytes"`
}

// lateBy is how much earlier than the last look a call in an appended line may be. One
// that claims more is counted when it is seen.
const lateBy = time.Hour

// Bounds of what is written at once.
const (
	commitBytes = 128 << 20
	commitFiles = 512
)

// NewScanner makes a scanner.
func NewScanner(ctx context.Context, store *Store, home string, getenv func(string) string) (*Scanner, error) {
	positions, err := store.Positions(ctx)
	if err != nil {
		return nil, err
	}
	return &Scanner{store: store, home: home, getenv: getenv, now: time.Now, positions: positions}, nil
}

// Scan reads what is new in the records of some agents; nil is all of them. places are
// more folders, by agent, and read whether their agent is among those or not.
func (s *Scanner) Scan(ctx context.Context, agents []string, places map[string][]string) error {
	type work struct {
		store *store
		file  found
	}
	var list []work
	for i := range stores() {
		one := &stores()[i]
		roots := places[one.agent]
		if agents == nil || slices.Contains(agents, one.agent) {
			roots = slices.Concat(one.rootsOf(s.home, s.getenv), roots)
		}
		seen := map[uniqueFile]bool{}
		for _, root := range roots {
			records := one.find(ctx, root, seen)
			if len(records) >= maxFiles {
				s.tellRewritten(rewrite{agent: one.agent, session: everySession, at: s.now(), why: fmt.Sprintf("%s has more than %d files of records in %s, "+
					"and the others aren't read", one.agent, maxFiles, root)})
			}
			for _, f := range records {
				if was := s.positions[f.path]; was == nil || !was.unchanged(&f) {
					list = append(list, work{one, f})
				}
			}
		}
	}
	if len(list) == 0 {
		return ctx.Err()
	}
	var b *batch
	var err error
	var known knownIDs
	var slab []pendingCall // used again: a first import has many batches
	if len(s.positions) == 0 && s.store.isEmpty(ctx) {
		known = knownIDs{}
	}
	progress := Progress{Of: len(list)}
	var bytes int64
	files := 0
	began := time.Now()
	for i := range list {
		if ctx.Err() != nil {
			break
		}
		if b == nil {
			if b, err = s.store.begin(ctx, s.changed); err != nil {
				return err
			}
			b.known, b.pending = known, slab
		}
		f := &list[i].file
		if err = s.scanFile(ctx, b, list[i].store.agent, f); err != nil {
			b.rollback()
			return err
		}
		progress.Files++
		progress.Bytes += f.size
		bytes += f.size
		if files++; bytes >= commitBytes || files >= commitFiles || s.rest > 0 && time.Since(began) > time.Second {
			if err = b.commit(); err != nil {
				return err
			}
			slab = b.pending
			b, bytes, files = nil, 0, 0
			if s.progress != nil {
				s.progress(progress)
			}
			if s.rest > 0 {
				pause(ctx, time.Duration(float64(time.Since(began))*s.rest))
			}
			began = time.Now()
		}
	}
	if b != nil {
		if err = b.commit(); err != nil {
			return err
		}
	}
	if s.progress != nil {
		s.progress(progress)
	}
	return ctx.Err()
}

func pause(ctx context.Context, span time.Duration) {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// scanFile reads what is new in one file. A file that can't be read is tried again
// when it changes; only the store's own errors end the scan.
func (s *Scanner) scanFile(ctx context.Context, b *batch, agent string, f *found) error {
	was := s.positions[f.path]
	now := s.now()
	var failed error
	out := &sink{agent: agent}
	out.calls = func(c Call) {
		if failed != nil {
			return
		}
		if c.At.IsZero() {
			c.At = time.Unix(0, f.mtime)
		}
		c.At = orNow(c.At, now)
		if was != nil && was.Read > 0 && c.At.Before(time.UnixMilli(was.Read).Add(-lateBy)) && !c.Replay {
			// A rewritten file has its old lines again: those are known, and keep their time.
			c.At = now
		}
		failed = b.add(c)
	}
	out.limit = func(w Window) {
		w.Agent = agent
		w.Learned = orNow(w.Learned, now)
		if s.window != nil {
			w = s.window(w)
		}
		if failed == nil {
			failed = b.saveWindow(&w)
		}
	}
	out.rewritten = func(session, project string) {
		s.tellRewritten(rewrite{agent: agent, session: session, project: project, at: now})
	}
	at, err := s.reading.read(ctx, f, was, out)
	if failed != nil {
		return failed
	}
	if err != nil {
		if f.kind.format.database != nil {
			return nil // it is busy; the next look reads it
		}
		if ctx.Err() != nil {
			return ctx.Err() // it goes on where it was
		}
	}
	at.Read = now.UnixMilli()
	if err := b.savePosition(f.path, &at); err != nil {
		return err
	}
	s.positions[f.path] = &at
	return nil
}
