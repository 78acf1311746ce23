package sealed

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// KeyFile is the name of the key below a state folder.
const KeyFile = "consent.key"

// seal is a file with a message authentication code over its content.
type seal struct {
	Content json.RawMessage `json:"content"`
	MAC     string          `json:"mac"`
}

// ErrForged says that a file was not written by hookmux.
var ErrForged = errors.New("hookmux didn't write this file, so it isn't trusted")

// readKey reads the key; if there is none it makes one, with create.
func readKey(dir string, create bool) ([]byte, error) {
	path := filepath.Join(dir, KeyFile)
	key, err := ReadKey(path)
	switch {
	case !errors.Is(err, ErrNoKey):
		return key, err
	case !create:
		return nil, ErrForged
	}
	return MakeKey(path, WriteDurably)
}

func macOf(key []byte, name string, content []byte) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(name + "\x00"))
	m.Write(content)
	return hex.EncodeToString(m.Sum(nil))
}

// Seal returns a value under its seal, as it is written to the file of that name below dir.
func Seal(dir, name string, value any) ([]byte, error) {
	k, err := readKey(dir, true)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(seal{content, macOf(k, name, content)})
	return append(b, '\n'), err
}

// Store writes a value under its seal.
func Store(dir, name string, value any) error {
	b, err := Seal(dir, name, value)
	if err != nil {
		return err
	}
	return WriteDurably(filepath.Join(dir, name), b)
}

// Load reads a value whose seal is intact; a file that doesn't exist leaves the value alone.
func Load(dir, name string, value any) error {
	path := filepath.Join(dir, name)
	b, err := files.Read(path, 64<<20)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	return Unseal(dir, name, b, value)
}

// Unseal reads a value out of the content of the file of that name below dir, if
// its seal is whole.
func Unseal(dir, name string, b []byte, value any) error {
	path := filepath.Join(dir, name)
	var s seal
	if json.Unmarshal(b, &s) != nil {
		return fmt.Errorf("%s: %w", path, ErrForged)
	}
	k, err := readKey(dir, false)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !hmac.Equal([]byte(s.MAC), []byte(macOf(k, name, s.Content))) {
		return fmt.Errorf("%s: %w", path, ErrForged)
	}
	return json.Unmarshal(s.Content, value)
}

// WriteDurably replaces a file so that it is either the old or the new one, even after a
// power cut.
func WriteDurably(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := files.WriteSynced(path, content); err != nil {
		return err
	}
	return files.SyncDir(dir)
}
