package accepted

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// Restore writes the accepted version back into the files that contain something else.
// shown is the hash of what the user saw. What is active doesn't change: what a file added
// to deny more stays active. Files of which nothing was accepted are left as they are, and
// so is a link, because it leads to another file.
func (s *Store) Restore(shown string) (done []Change, left []error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.State != Accepted {
		return nil, nil, fmt.Errorf("nothing can be restored: the settings you accepted aren't known")
	}
	list, hash := s.listPending(nil)
	if shown != hash {
		return nil, nil, ErrChanged
	}
	for _, c := range list {
		k := s.now.Files[c.Path]
		content, err := s.contents.read(k.Accepted)
		switch {
		case err != nil:
			left = append(left, fmt.Errorf("%s: %w", c.Path, err))
			continue
		case content == nil && c.After == nil:
			left = append(left, fmt.Errorf("%s is gone again, and what it added still applies; `hookmux config accept` ends "+
				"that", c.Path))
			continue
		case content == nil:
			left = append(left, fmt.Errorf("%s is new, so there is nothing to restore; accept or remove it", c.Path))
			continue
		case c.After != nil && hashOf(c.After) == k.Accepted:
			left = append(left, fmt.Errorf("%s has what you accepted, and what was added since is still active; "+
				"`hookmux config accept` ends that", c.Path))
			continue
		}
		if err := restoreFile(c.Path, content, k.Runs, filepath.Join(s.opt.State, replacedDir)); err != nil {
			left = append(left, err)
			continue
		}
		done = append(done, c)
	}
	s.version++
	return done, left, nil
}

// replacedDir keeps what stood in files before they were restored.
const replacedDir = "replaced"

// restoreFile writes a file as it was accepted, and keeps what it held below a folder.
func restoreFile(path string, content []byte, runs bool, replaced string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link to another file, which is not written; remove the link first", path)
	}
	if err == nil {
		live, err := userfile.ReadFile(path, maxFileSize)
		if err != nil {
			return err
		}
		copied := filepath.Join(replaced, hashOf(live)[:16], filepath.Base(path))
		if err := userfile.Store(copied, live); err != nil {
			return fmt.Errorf("%s is left as it is, because a copy of it cannot be kept: %w", path, err)
		}
	}
	if err := userfile.Store(path, content); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	if runs && !canRun(path) {
		return os.Chmod(path, 0o700)
	}
	return nil
}
