package sealed

import (
	"crypto/rand"
	"errors"
	"io/fs"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// ErrNoKey says that there is no key: no file, or one that holds something else.
var ErrNoKey = errors.New("there is no key")

// ReadKey returns the key in a file. Any error but [ErrNoKey] says that the file
// could not be read.
func ReadKey(path string) ([]byte, error) {
	key, err := files.Read(path, 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(key) != KeySize:
		return nil, ErrNoKey
	case err != nil:
		return nil, err
	}
	return key, nil
}

// MakeKey makes a key and writes it. The key can be used by this process even if writing it
// fails.
func MakeKey(path string, write func(path string, key []byte) error) ([]byte, error) {
	key := make([]byte, KeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	return key, write(path, key)
}
