package accepted

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// This file keeps the last error-free version of a user's file: it stays active while the
// file is broken.

// LastGoodPath returns where the last good version of a file is kept, by what kind of file it is;
// "" where there is no state folder.
func LastGoodPath(state, kind, file string) string {
	if state == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(file))
	return filepath.Join(state, "lastgood", kind+"-"+hex.EncodeToString(sum[:8])+".json")
}

// LastGood is the last good version of a file.
type LastGood struct {
	Path string // where it is kept; "": in memory alone
	Text []byte // nil: none is known

	unsaved bool // Text could not be written
}

// Read reads what is kept: another process may have kept a newer version. What could not
// be written counts more.
func (v *LastGood) Read(limit int64) {
	if v.Path == "" || v.unsaved {
		return
	}
	if text, err := userfile.ReadFile(v.Path, limit); err == nil {
		v.Text = text
	}
}

// Keep makes a text the last good version. The error says that it is in memory alone.
func (v *LastGood) Keep(text []byte) error {
	if v.Text != nil && string(v.Text) == string(text) {
		return nil
	}
	v.Text = text
	if v.Path == "" {
		return nil
	}
	err := userfile.Store(v.Path, text)
	v.unsaved = err != nil
	return err
}

// Drop forgets it: the file was taken away on purpose.
func (v *LastGood) Drop() {
	v.Text = nil
	if v.Path != "" {
		_ = os.Remove(v.Path) // what stays is read only where the file itself is broken
	}
}
