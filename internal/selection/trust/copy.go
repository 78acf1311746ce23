package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/atomicfolder"
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
		return ledger.Seal(s.state, recordName(p.key), rec)
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
	var files []atomicfolder.File
	for _, f := range c.files {
		mode := fs.FileMode(0o400)
		if f.Exec {
			mode = 0o500
		}
		files = append(files, atomicfolder.File{Path: f.Path, Data: c.bytes[f.Path], Mode: mode})
	}
	if err := atomicfolder.Write(dir, files); err != nil {
		if delete(s.verified, dir); s.verifyCopy(dir, c.files) == nil {
			return nil // another process trusted the same content at the same moment
		}
		return err
	}
	return nil
}

// verifyCopy hashes a copy again, once per process: a state folder that was damaged
// or half restored must not run.
func (s *Store) verifyCopy(dir string, files []File) error {
	if s.verified[dir] {
		return nil
	}
	for _, f := range files {
		data, err := userfile.ReadFile(filepath.Join(dir, f.Path), maxFileSize)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.Sum {
			return fmt.Errorf("%s differs", f.Path)
		}
	}
	if len(files) == 0 && !fileExists(dir) {
		return fs.ErrNotExist
	}
	s.verified[dir] = true
	return nil
}
