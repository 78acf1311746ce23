package journal

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Open opens the journal at path and creates it if there is none. A file that isn't a usable
// database is moved aside and a new one started; [Journal.Problems] reports it. A file that
// a newer hookmux wrote is left alone: [ErrNewer].
func Open(path string, opts Options) (*Journal, error) {
	if opts.Readers <= 0 {
		opts.Readers = 4
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	j := &Journal{path: path, opts: opts}
	err = j.openConnections()
	if isBroken(err) {
		if err = j.moveAside(err); err == nil {
			// How far the broken one had counted isn't known, but surely not to the milliseconds
			// since 1970.
			j.newest.Store(opts.Now().UnixMilli())
			err = j.openConnections()
		}
	}
	if err != nil {
		return nil, explainAt(path, err)
	}
	return j, nil
}

// openConnections connects writer and readers. The caller holds write, or is Open.
func (j *Journal) openConnections() error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	// Made here rather than by SQLite, whose log files take the mode over: what agents say is
	// private, whatever the umask.
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	j.file, err = f.Stat()
	f.Close()
	if err != nil {
		return err
	}

	readers, err := sql.Open("sqlite", sourceName(j.path,
		"mode", "ro", "_pragma", "busy_timeout(5000)", "_pragma", "query_only(1)", "_pragma", "cache_size(-2000)"))
	if err != nil {
		return err
	}
	readers.SetMaxOpenConns(j.opts.Readers)
	readers.SetMaxIdleConns(1)
	readers.SetConnMaxIdleTime(time.Minute)

	w, err := openWriter(readers.Driver(), sourceName(j.path))
	if err == nil && j.opts.Large {
		if err = w.execAll(largePragmas); err != nil {
			w.close()
		}
	}
	if err != nil {
		readers.Close()
		return err
	}
	// A file begun in the place of a broken one goes on counting where that
	// one ended, so that readers need not know.
	if floor := j.newest.Load(); w.next <= floor {
		if err := w.persistCursor(floor); err != nil {
			readers.Close()
			w.close()
			return err
		}
	}
	j.writer = w
	j.noteForeign()
	j.newest.Store(w.next - 1)
	j.readersMu.Lock()
	j.readers = readers
	j.readersMu.Unlock()
	return nil
}

func sourceName(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Add(pairs[i], pairs[i+1])
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}

// Close finishes writing, carries the log over into the database and closes
// it. Queries under way end with an error at their next page.
func (j *Journal) Close() error {
	if j.closed.Swap(true) {
		return nil
	}
	j.write.Lock()
	defer j.write.Unlock()
	return j.closeConnections()
}

// closeConnections closes the connections, readers first: the last one out carries the
// log over. The caller holds write.
func (j *Journal) closeConnections() error {
	j.readersMu.Lock()
	if j.readers != nil {
		j.readers.Close()
		j.readers = nil
	}
	j.readersMu.Unlock()
	w := j.writer
	j.writer = nil
	if w == nil {
		return nil
	}
	return w.close()
}

// noteResult remembers how the last write went.
func (j *Journal) noteResult(err error) {
	j.health.Lock()
	defer j.health.Unlock()
	if err != nil && j.err == nil {
		j.errSince = j.opts.Now()
	}
	j.err = err
}
