package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

// keepCopy copies content and records it as trusted.
func (s *Store) keepCopy(root string, c *content) error {
	p, _, err := s.readProject(root)
	if p.key == "" {
		return err
	}
	if err := s.writeCopy(s.copyDir(p.key, c.contentHash()), c); err != nil {
		return err
	}
	s.rememberRoot(root)
	var dropped []string
	err = userfile.WriteFile(s.recordFile(p.key), func(old []byte) ([]byte, error) {
		rec, _ := s.readRecord(p.key, old) // an unreadable one is replaced by this decision
		rec.Common, rec.Path = p.common, p.rel
		rec.Trusted = slices.DeleteFunc(rec.Trusted, func(t trusted) bool { return t.Hash == c.contentHash() })
		rec.Trusted = append(rec.Trusted, trusted{c.contentHash(), time.Now().UTC().Truncate(time.Second), root,
			p.branch, c.files})
		for len(rec.Trusted) > maxTrusted {
			dropped = append(dropped, rec.Trusted[0].Hash)
			rec.Trusted = rec.Trusted[1:]
		}
		return sealed.Seal(s.state, recordName(p.key), rec)
	})
	if err != nil {
		return err
	}
	for _, hash := range dropped {
		_ = os.RemoveAll(s.copyDir(p.key, hash))
	}
	return nil
}

// writeCopy writes the bytes that were hashed, all or nothing.
func (s *Store) writeCopy(dir string, c *content) error {
	delete(s.verified, dir)
	if s.verifyCopy(dir, c.files) == nil {
		return nil
	}
	var list []files.FolderFile
	for _, f := range c.files {
		mode := fs.FileMode(0o400)
		if f.Exec {
			mode = 0o500
		}
		list = append(list, files.FolderFile{Path: f.Path, Data: c.bytes[f.Path], Mode: mode})
	}
	if err := files.WriteFolder(dir, list); err != nil {
		if s.verifyCopy(dir, c.files) == nil {
			return nil // another process trusted the same content at the same moment
		}
		return err
	}
	return nil
}

// verifiedCopy is a copy as it was when it was hashed.
type verifiedCopy struct {
	at    time.Time
	infos []fs.FileInfo // of its files, in their order
}

// isVerified reports whether a copy is as it was when it was hashed, by a look at each file.
// One whose timestamp was too recent then to tell two changes apart is hashed again.
func (s *Store) isVerified(dir string, files []File) bool {
	known := s.verified[dir]
	if known == nil || len(known.infos) != len(files) {
		return false
	}
	for i, f := range files {
		info, err := os.Lstat(filepath.Join(dir, f.Path))
		if err != nil || !userfile.SameStamp(info, known.infos[i]) ||
			known.at.Sub(info.ModTime()).Abs() < 50*time.Millisecond {
			return false
		}
	}
	return len(files) > 0 || fileExists(dir)
}

// verifyCopy hashes a copy, again whenever it may have changed: a state folder that was
// damaged, half restored or written by another program must not run.
func (s *Store) verifyCopy(dir string, files []File) error {
	if s.isVerified(dir, files) {
		return nil
	}
	delete(s.verified, dir)
	now := &verifiedCopy{at: time.Now()}
	for _, f := range files {
		name := filepath.Join(dir, f.Path)
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		data, err := userfile.ReadFile(name, maxFileSize)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.Sum {
			return fmt.Errorf("%s differs", f.Path)
		}
		now.infos = append(now.infos, info)
	}
	if len(files) == 0 && !fileExists(dir) {
		return fs.ErrNotExist
	}
	s.verified[dir] = now
	return nil
}

// repairCopy rewrites a damaged copy if the project still has exactly the content that was
// trusted.
func (s *Store) repairCopy(root, dir, hash string) error {
	c, err := s.collectContent(root, nil)
	if err != nil {
		return err
	}
	if c.contentHash() != hash {
		return errors.New("and the project holds something else")
	}
	return s.writeCopy(dir, c)
}
