package usage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/wire"
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
	// unfinished are the files of which a part is to be read with the next look, failing
	// the databases that can't be read, since when.
	unfinished map[string]work
	failing    map[string]time.Time
	// rest is how long a scan in the background pauses for each moment it worked; 0: it
	// doesn't.
	rest    float64
	reading reading
	// live are the agents and folders that are at work. A look at everything, which may
	// take long, looks at those in between.
	live  func() (agents []string, places map[string][]string)
	known knownIDs // while a first import lasts
}

// rewrite is a change of records that had been read; their agent only adds to them.
type rewrite struct {
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Project string    `json:"project,omitempty"`
	At      time.Time `json:"at"`
	Why     string    `json:"why,omitempty"` // "" is that it was rewritten
}

// everySession is the session of what is about all of an agent's.
const everySession = "*"

func (s *Scanner) tellRewritten(r rewrite) {
	if s.rewritten != nil {
		s.rewritten(r)
	}
}

// tellEarlier reports what was rewritten while earlier daemons ran.
func (s *Scanner) tellEarlier() {
	for _, p := range s.positions {
		for _, one := range p.Doubts {
			s.tellRewritten(one)
		}
	}
}

// lookFor reports if the record of a live session was read and is gone, or can't be read.
func (s *Scanner) lookFor(one *wire.Session) {
	path := one.Transcript
	was := s.positions[path]
	if was != nil && len(was.Doubts) > 0 {
		return
	}
	if was == nil && !slices.Contains(prompt, one.Agent) {
		return // what others name may be no record
	}
	err := tryRecord(path)
	if errors.Is(err, fs.ErrNotExist) {
		if was == nil {
			return // nothing is in it yet
		}
		err = tryRecord(path + ".zst") // Codex compresses its records
	}
	if err == nil {
		return
	}
	r := rewrite{Agent: one.Agent, Session: one.ID, Project: one.Cwd, At: s.now()}
	if !errors.Is(err, fs.ErrNotExist) {
		r.Why = "its records can't be read"
	}
	if was != nil {
		r.Session, r.Project = was.State.Session, was.State.Project
		was.doubt(&r)
	}
	s.tellRewritten(r)
}

// tryRecord returns why a record can't be read.
func tryRecord(path string) error {
	f, err := openRecord(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	return err
}

// Unfinished reports whether there's more to read in some files.
func (s *Scanner) Unfinished() bool { return len(s.unfinished) > 0 }

// work is a file to read.
type work struct {
	store *store
	file  found
}

// Progress is how far a scan is.
type Progress struct {
	Files int   `json:"files"`
	Of    int   `json:"of"`
	Bytes int64 `json:"bytes"`
}

// lateBy is how much earlier than the last look a call in an appended line may be. A call
// that claims more is counted when it is seen.
const lateBy = time.Hour

// Bounds of what is written at once.
const (
	commitBytes = 512 << 20
	commitFiles = 2048
	commitSoon  = 400 * time.Millisecond // where something waits for what comes in between
)

// NewScanner returns a scanner.
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
	s.reading.everything = agents == nil
	list := s.changedFiles(ctx, agents, places)
	for path, one := range s.unfinished {
		if !slices.ContainsFunc(list, func(w work) bool { return w.file.path == path }) {
			list = append(list, one)
		}
	}
	if agents != nil {
		return s.readAll(ctx, list, nil)
	}
	if len(s.positions) == 0 && s.store.isEmpty(ctx) {
		s.known = newKnownIDs()
		defer func() { s.known = nil }()
	}
	if err := s.readAll(ctx, list, s.readLive); err != nil {
		return err
	}
	return s.readLive(ctx)
}

// readLive reads what is new in what is at work, within a look at everything.
func (s *Scanner) readLive(ctx context.Context) error {
	if s.live == nil {
		return nil
	}
	s.reading.everything = false
	defer func() { s.reading.everything = true }()
	agents, places := s.live()
	return s.readAll(ctx, s.changedFiles(ctx, agents, places), nil)
}

// changedFiles are the files that have something new.
func (s *Scanner) changedFiles(ctx context.Context, agents []string, places map[string][]string) (list []work) {
	for i := range stores() {
		one := &stores()[i]
		own := one.rootsOf(s.home, s.getenv)
		roots := places[one.agent]
		if s.reading.everything || slices.Contains(agents, one.agent) {
			roots = slices.Concat(own, roots)
		}
		seen := map[uniqueFile]bool{}
		for _, root := range roots {
			limit := maxBeside
			if slices.ContainsFunc(own, func(dir string) bool { return budget.Below(root, dir) }) {
				limit = maxEntries
			}
			records, all := one.find(ctx, root, limit, seen)
			if !all {
				s.tellRewritten(rewrite{Agent: one.agent, Session: everySession, At: s.now(),
					Why: fmt.Sprintf("%s has too many files in %s, and some aren't read", one.agent, root)})
			}
			for _, f := range records {
				if was := s.positions[f.path]; was == nil || !was.unchanged(&f) || was.newest && s.reading.everything {
					list = append(list, work{one, f})
				}
			}
		}
	}
	return list
}

// readAll reads files, and writes down what they have piece by piece. A look at everything
// reads all of them, and has something to do in between.
func (s *Scanner) readAll(ctx context.Context, list []work, between func(context.Context) error) error {
	var slab []pendingCall // used again: a first import has many batches
	progress := Progress{Of: len(list)}
	for len(list) > 0 && ctx.Err() == nil {
		b, err := s.store.begin(ctx, s.changed)
		if err != nil {
			return err
		}
		b.known, b.pending = s.known, slab
		began := time.Now()
		files, bytes := 0, int64(0)
		for len(list) > 0 && ctx.Err() == nil && bytes < commitBytes && files < commitFiles &&
			(between == nil || s.live == nil || time.Since(began) < commitSoon) {
			read, err := s.scanFile(ctx, b, &list[0])
			if err != nil {
				b.rollback()
				return err
			}
			files, bytes = files+1, bytes+read
			if between == nil || read == 0 || !s.positions[list[0].file.path].isPartial() {
				list = list[1:]
			}
		}
		if err := b.commit(); err != nil {
			return err
		}
		slab = b.pending
		progress.Files = progress.Of - len(list)
		progress.Bytes += bytes
		if between == nil {
			continue
		}
		if s.progress != nil {
			s.progress(progress)
		}
		if len(list) > 0 {
			pause(ctx, time.Duration(float64(time.Since(began))*s.rest))
			if err := between(ctx); err != nil {
				return err
			}
		}
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

// scanFile reads what is new in one file, and returns how many bytes that were. A file
// that can't be read is tried again with the next look; only the store's own errors end
// the scan.
func (s *Scanner) scanFile(ctx context.Context, b *batch, one *work) (read int64, err error) {
	agent, f := one.store.agent, &one.file
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
	var doubt *rewrite
	out.doubt = func(session, project, why string, at time.Time) {
		doubt = &rewrite{agent, session, project, at, why}
	}
	at, err := s.reading.read(ctx, f, was, out)
	switch {
	case failed != nil:
		return 0, failed
	case ctx.Err() != nil:
		return 0, ctx.Err() // it continues where it was
	case err != nil && f.kind.format.database != nil:
		s.noteFailing(agent, f.path)
		return 0, nil // it is busy; the next look reads it
	case err != nil && was == nil:
		return 0, nil
	case err != nil:
		at, doubt = *was, &rewrite{agent, was.State.Session, was.State.Project, now, "its records can't be read"}
	}
	delete(s.failing, f.path)
	if was != nil {
		at.Doubts = was.Doubts
	}
	if doubt != nil {
		at.doubt(doubt)
		s.tellRewritten(*doubt)
	}
	if at.Read = now.UnixMilli(); was == nil && at.Partial {
		at.Read = 0 // what comes with the next look is no younger
	} else if was != nil && (at.Partial || was.Partial || err != nil) {
		at.Read = was.Read
	}
	if at.Partial {
		if s.unfinished == nil {
			s.unfinished = map[string]work{}
		}
		s.unfinished[f.path] = *one
	} else {
		delete(s.unfinished, f.path)
	}
	if err := b.savePosition(f.path, &at); err != nil {
		return 0, err
	}
	s.positions[f.path] = &at
	if at.Offset > 0 {
		from := int64(0)
		if was != nil {
			from = was.Offset
		}
		return max(0, at.Offset-from), nil
	}
	return at.Size, nil
}

// failingFor is how long a database may be busy.
const failingFor = 10 * time.Second

// noteFailing notes that a database can't be read. It may be busy for a moment; if it takes
// longer, something keeps it from being read.
func (s *Scanner) noteFailing(agent, path string) {
	since, ok := s.failing[path]
	if !ok {
		if s.failing == nil {
			s.failing = map[string]time.Time{}
		}
		s.failing[path] = s.now()
	} else if s.now().Sub(since) >= failingFor {
		s.tellRewritten(rewrite{Agent: agent, Session: everySession, At: s.now(), Why: "the database of " + agent + " can't be read"})
	}
}
