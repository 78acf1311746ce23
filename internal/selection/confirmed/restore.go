package confirmed

import (
	"bytes"
	"fmt"
	"os"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// Restore writes what was confirmed back into the files that hold something else.
// shown is the hash of what the person saw. Nothing that is in force changes: what a
// file added to refuse more still counts. Files of which nothing was confirmed are
// left as they are, and so is a link, because another file stands behind it.
func (s *Store) Restore(shown string) (done []Change, left []error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Basis != Confirmed {
		return nil, nil, fmt.Errorf("nothing can be put back: the settings that were confirmed are not known")
	}
	list, hash := s.listPending(nil)
	if shown != hash {
		return nil, nil, ErrChanged
	}
	for _, c := range list {
		content, err := s.content(s.now.Files[c.Path].Confirmed)
		switch {
		case err != nil:
			left = append(left, fmt.Errorf("%s: %w", c.Path, err))
			continue
		case content == nil:
			left = append(left, fmt.Errorf("%s is new: nothing of it was confirmed; confirm or remove it", c.Path))
			continue
		}
		if err := restoreFile(c.Path, content); err != nil {
			left = append(left, err)
			continue
		}
		done = append(done, c)
	}
	s.version++
	return done, left, nil
}

// restoreFile writes a file as it was confirmed.
func restoreFile(path string, content []byte) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link to another file, which is not written; remove the link first", path)
	}
	gone := os.IsNotExist(err)
	if err := userfile.Store(path, content); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	if gone && bytes.HasPrefix(content, []byte("#!")) {
		return os.Chmod(path, 0o700) // a program that a hook runs
	}
	return nil
}
