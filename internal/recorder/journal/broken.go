package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// explainError is [explain] for errors of an open journal: one that was closed
// meanwhile has no other news.
func (j *Journal) explainError(err error) error {
	if err != nil && j.closed.Load() {
		return ErrClosed
	}
	return explainAt(j.path, err)
}

// explainAt puts the path first and says what the user can do.
func explainAt(path string, err error) error {
	if err == nil || errors.Is(err, ErrNewer) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	advice := "hookmux goes on deciding and keeps events in its intake until this is fixed"
	switch {
	case isFull(err):
		advice = "free some disk space; " + advice
	case resultCode(err) == sqlite3.SQLITE_READONLY || resultCode(err) == sqlite3.SQLITE_CANTOPEN ||
		errors.Is(err, fs.ErrPermission):
		advice = "make the file and its directory writable; " + advice
	case resultCode(err) == sqlite3.SQLITE_BUSY:
		advice = "another program has the journal open; close it"
	}
	return fmt.Errorf("%s: journal: %w; %s", path, err, advice)
}

// moveAside renames a broken journal and its log, so that nothing is lost that could be
// repaired, and says so in Problems. Nothing may have the file open.
func (j *Journal) moveAside(why error) error {
	base := strings.TrimSuffix(j.path, ".db") + ".broken-" + j.opts.Now().UTC().Format("20060102T150405.000")
	target := base + ".db"
	for n := 2; ; n++ {
		if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
			break
		}
		target = fmt.Sprintf("%s-%d.db", base, n)
	}
	if err := os.Rename(j.path, target); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(j.path+suffix, target+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	j.health.Lock()
	j.lasting = append(j.lasting, Problem{j.opts.Now(), fmt.Sprintf(
		"the journal %s was damaged (%v), so hookmux started a new one; delete the old one, %s, if you don't need it", j.path,
		why, target)})
	j.health.Unlock()
	return nil
}
