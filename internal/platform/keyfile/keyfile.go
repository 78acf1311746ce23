// Package keyfile keeps secret keys of hookmux's own in files.
package keyfile

import (
	"crypto/rand"
	"errors"
	"io/fs"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Size is the length of a key in bytes.
const Size = 32

// ErrNone says that there is no key: no file, or one that holds something else.
var ErrNone = errors.New("there is no key")

// Read gives the key in a file. Any error but [ErrNone] says that the file
// could not be read.
func Read(path string) ([]byte, error) {
	key, err := files.Read(path, 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(key) != Size:
		return nil, ErrNone
	case err != nil:
		return nil, err
	}
	return key, nil
}

// Make makes a key and writes it. The key is good for this process even where
// writing it fails.
func Make(path string, write func(path string, key []byte) error) ([]byte, error) {
	key := make([]byte, Size)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	return key, write(path, key)
}
