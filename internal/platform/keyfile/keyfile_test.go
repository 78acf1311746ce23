package keyfile

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
	if _, err := Read(path); !errors.Is(err, ErrNone) {
		t.Errorf("no file: got error %v, want %v", err, ErrNone)
	}
	made, err := Make(path, writePrivate)
	if err != nil || len(made) != Size {
		t.Fatalf("Make: got %d bytes and error %v, want %d bytes", len(made), err, Size)
	}
	if got, err := Read(path); err != nil || !bytes.Equal(got, made) {
		t.Errorf("Read: got %x and error %v, want %x", got, err, made)
	}
}

func TestOtherContentIsNoKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.Is(err, ErrNone) {
		t.Errorf("5 bytes: got error %v, want %v", err, ErrNone)
	}
}

func TestUnreadablePlaceIsAnError(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("a folder: got error %v, want one that says what is wrong", err)
	}
}

func TestKeyHoldsWhereItCannotBeWritten(t *testing.T) {
	broken := errors.New("disk is full")
	key, err := Make("", func(string, []byte) error { return broken })
	if len(key) != Size || !errors.Is(err, broken) {
		t.Errorf("got %d bytes and error %v, want %d bytes and %v", len(key), err, Size, broken)
	}
}
