package launch

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	diskfiles "github.com/hookmux/hookmux/internal/platform/files"
)

// Overlay is a config folder for one agent that looks like the user's own, except for its hooks:
// every entry is a link to theirs, and the hooks file holds their hooks and ours. It is for versions
// that ignore hooks given on the command line, and stays in one place, because agents pin trust to
// paths.
//
// Agents write a file next to the old one and rename it, which replaces a link by a real file;
// folders they create for the first time are real too. Carry moves all of that to the user's folder.
// Of two versions of a file the newer one is kept there, and the other is set aside, never lost.
type Overlay struct {
	User string // the user's folder
	Dir  string // ours
	File string // the hooks' file, in both
	// Merge adds our hooks to the user's; nil is no file.
	Merge func(own []byte) ([]byte, error)
}

// aside is where versions are kept that were older than the user's.
const aside = ".hookmux-aside"

// Prepare makes the folder ready for a launch. What an earlier one left behind because it was killed
// is moved to the user's folder first.
func (o *Overlay) Prepare() (told []string, err error) {
	for _, dir := range []string{o.User, o.Dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	unlock, err := userfile.Lock(o.Dir + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if told, err = o.carryAll(); err != nil {
		return told, err
	}
	own, err := os.ReadFile(filepath.Join(o.User, o.File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return told, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		own = nil
	}
	hooks, err := o.Merge(own)
	if err != nil {
		return told, fmt.Errorf("%s: %w", filepath.Join(o.User, o.File), err)
	}
	if err := o.linkEntries(); err != nil {
		return told, err
	}
	return told, o.placeFile(filepath.Join(o.Dir, o.File), hooks)
}

// placeFile writes a file whole, and not at all when it holds that already.
func (o *Overlay) placeFile(path string, data []byte) error {
	if is, err := os.ReadFile(path); err == nil && bytes.Equal(is, data) {
		return nil
	}
	return diskfiles.WriteVia(".hookmux-*", path, data) // entries of that name are ours
}

// linkEntries adds an entry for each of the user's to the folder, and removes those that no longer
// lead anywhere.
func (o *Overlay) linkEntries() error {
	entries, err := os.ReadDir(o.User)
	if err != nil {
		return err
	}
	want := map[string]bool{}
	for _, e := range entries {
		if e.Name() != o.File {
			want[e.Name()] = true
		}
	}
	there, err := os.ReadDir(o.Dir)
	if err != nil {
		return err
	}
	for _, e := range there {
		path := filepath.Join(o.Dir, e.Name())
		if e.Type()&fs.ModeSymlink == 0 {
			delete(want, e.Name()) // in use, and not to be carried
			continue
		}
		if to, err := os.Readlink(path); want[e.Name()] && err == nil && to == filepath.Join(o.User, e.Name()) {
			delete(want, e.Name())
		} else if err := os.Remove(path); err != nil {
			return err
		}
	}
	for name := range want {
		if err := os.Symlink(filepath.Join(o.User, name), filepath.Join(o.Dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Carry moves what the agent wrote into the folder to the user's own. It returns a message for
// whatever couldn't be moved, or was set aside.
func (o *Overlay) Carry() (told []string, err error) {
	unlock, err := userfile.Lock(o.Dir + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	return o.carryAll()
}

func (o *Overlay) carryAll() (told []string, err error) {
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		if e.Name() == o.File || e.Name() == aside || strings.HasPrefix(e.Name(), ".hookmux-") {
			continue
		}
		more, err := o.carryHome(e.Name(), e)
		told = append(told, more...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	sort.Strings(told)
	return told, errors.Join(errs...)
}

// carryHome moves one entry to the user's folder; rel is its path in both folders.
func (o *Overlay) carryHome(rel string, e fs.DirEntry) (told []string, err error) {
	from, to := filepath.Join(o.Dir, rel), filepath.Join(o.User, rel)
	switch {
	case e.Type()&fs.ModeSymlink != 0 || !e.IsDir() && !e.Type().IsRegular():
		return nil, nil // theirs, or a socket of a session that runs
	case e.IsDir():
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return nil, o.moveEntry(from, to)
		}
		return o.carryDir(rel, from, to)
	}
	is, err := os.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, o.moveEntry(from, to)
	}
	if err != nil {
		return nil, err
	}
	if is.Mode()&fs.ModeSymlink != 0 { // a dotfile manager's: its target is meant
		if to, err = filepath.EvalSymlinks(to); err != nil {
			return nil, err
		}
		if is, err = os.Stat(to); err != nil {
			return nil, err
		}
	}
	ours, err := e.Info()
	if err != nil {
		return nil, err
	}
	same, err := sameContent(from, to)
	switch {
	case err != nil:
		return nil, err
	case same:
		return nil, o.relinkEntry(from, rel)
	case is.ModTime().After(ours.ModTime()):
		// The user's file was written later than the agent's.
		kept, err := o.setAside(rel, from)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("%s: was changed by another program later than in this session, and stays; the "+
			"session's is %s", to, kept)}, o.relinkEntry("", rel)
	}
	return nil, o.moveEntry(from, to)
}

// carryDir moves the entries of a folder that both have.
func (o *Overlay) carryDir(rel, from, to string) (told []string, err error) {
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		kept, err := o.setAside(rel, from)
		return []string{fmt.Sprintf("%s: is not a folder any more; what the session wrote is %s", to, kept)}, err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		more, err := o.carryHome(filepath.Join(rel, e.Name()), e)
		told = append(told, more...)
		if err != nil {
			return told, err
		}
	}
	// What is left are links to what was moved, and sockets.
	left, err := os.ReadDir(from)
	if err != nil {
		return told, err
	}
	for _, e := range left {
		if e.Type()&fs.ModeSymlink == 0 {
			return told, nil
		}
	}
	for _, e := range left {
		if err := os.Remove(filepath.Join(from, e.Name())); err != nil {
			return told, err
		}
	}
	if err := os.Remove(from); err != nil {
		return told, err
	}
	return told, os.Symlink(to, from)
}

// moveEntry puts an entry where the user keeps theirs, in one step, and a link in
// its place.
func (o *Overlay) moveEntry(from, to string) error {
	rel, err := filepath.Rel(o.Dir, from)
	if err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		if err := copyTree(from, to); err != nil {
			return err
		}
		if err := os.RemoveAll(from); err != nil {
			return err
		}
	}
	return o.relinkEntry("", rel)
}

// relinkEntry replaces a file of ours by a link.
func (o *Overlay) relinkEntry(drop, rel string) error {
	if drop != "" {
		if err := os.Remove(drop); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(o.User, rel), filepath.Join(o.Dir, rel))
}

func (o *Overlay) setAside(rel, from string) (string, error) {
	base := filepath.Join(o.Dir, aside)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	name := strings.ReplaceAll(rel, string(filepath.Separator), "_")
	for n := 1; ; n++ {
		to := filepath.Join(base, fmt.Sprintf("%s.%d", name, n))
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, os.Rename(from, to)
		}
	}
}

func sameContent(a, b string) (bool, error) {
	x, err := sumOf(a)
	if err != nil {
		return false, err
	}
	y, err := sumOf(b)
	return x == y, err
}

func sumOf(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// copyTree is for folders on different file systems: it copies next to the destination first
// and then renames, so that a half-copied tree is never seen.
func copyTree(from, to string) error {
	temp := filepath.Join(filepath.Dir(to), ".hookmux-"+filepath.Base(to))
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.CopyFS(temp, os.DirFS(from))
	} else {
		err = copyFile(from, temp, info)
	}
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return nil
}

func copyFile(from, to string, info fs.FileInfo) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
