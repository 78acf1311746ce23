package accepted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// contents are copies of accepted files, each in a file named by its hash. The store's
// lock guards them.
type contents struct {
	state string            // the folder that they are kept below
	known map[string][]byte // by hash, as far as they were needed
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// read returns the content with a hash; nil for "". The caller holds the lock.
func (c contents) read(hash string) ([]byte, error) {
	if hash == "" {
		return nil, nil
	}
	if b, ok := c.known[hash]; ok {
		return b, nil
	}
	path := c.file(hash)
	b, err := files.Read(path, maxFileSize)
	if err == nil && hashOf(b) != hash {
		err = fmt.Errorf("%s was changed", path)
	}
	if err != nil {
		return nil, fmt.Errorf("the accepted content is gone: %w", err)
	}
	if b == nil {
		b = []byte{}
	}
	c.known[hash] = b
	return b, nil
}

func (c contents) file(hash string) string { return filepath.Join(c.state, contentsDir, hash) }

// keep remembers a content until the record is written. The caller holds
// the lock.
func (c contents) keep(content []byte) string {
	hash := hashOf(content)
	c.known[hash] = append([]byte{}, content...)
	return hash
}

// store writes a content down, unless it is there.
func (c contents) store(hash string, content []byte) error {
	path := c.file(hash)
	old, err := files.Read(path, maxFileSize)
	if err == nil && hashOf(old) == hash {
		return nil
	}
	if files.IsNotPlainFile(err) {
		if _, err := files.SetAside(path); err != nil {
			return err
		}
	}
	return files.WriteSynced(path, content)
}

// dropOthers removes the contents that no record names.
func (c contents) dropOthers(folder string, wanted map[string]bool) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			_ = os.Remove(filepath.Join(folder, e.Name())) // what stays only takes room
		}
	}
	for hash := range c.known {
		if !wanted[hash] {
			delete(c.known, hash)
		}
	}
}

// keepIfAny is keep, and "" for a file that is not there.
func (c contents) keepIfAny(content []byte) string {
	if content == nil {
		return ""
	}
	return c.keep(content)
}
