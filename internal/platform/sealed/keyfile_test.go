package sealed

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func writePrivate(path string, key []byte) error { return os.WriteFile(path, key, 0o600) }

func TestKeyIsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if _, err := ReadKey(path); !errors.Is(err, ErrNoKey) {
		t.Errorf("no file: got error %v, want %v", err, ErrNoKey)
	}
	made, err := MakeKey(path, writePrivate)
	if err != nil || len(made) != KeySize {
		t.Fatalf("Make: got %d bytes and error %v, want %d bytes", len(made), err, KeySize)
	}
	if got, err := ReadKey(path); err != nil || !bytes.Equal(got, made) {
		t.Errorf("Read: got %x and error %v, want %x", got, err, made)
	}
}

func TestOtherContentIsNoKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(path); !errors.Is(err, ErrNoKey) {
		t.Errorf("5 bytes: got error %v, want %v", err, ErrNoKey)
	}
}

func TestUnreadablePlaceIsAnError(t *testing.T) {
	if _, err := ReadKey(t.TempDir()); err == nil || errors.Is(err, ErrNoKey) {
		t.Errorf("a folder: got error %v, want one that says what is wrong", err)
	}
}

func TestKeyHoldsWhereItCannotBeWritten(t *testing.T) {
	broken := errors.New("disk is full")
	key, err := MakeKey("", func(string, []byte) error { return broken })
	if len(key) != KeySize || !errors.Is(err, broken) {
		t.Errorf("got %d bytes and error %v, want %d bytes and %v", len(key), err, KeySize, broken)
	}
}
