package spoolrecord

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// The daemon reads what clients leave with the standard library's checksum.
func TestChecksumIsTheStandardOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		if got, want := checksum(data), crc32.ChecksumIEEE(data); got != want {
			t.Fatalf("checksum of %x is %08x, want %08x", data, got, want)
		}
	})
}

func TestLeaveRefusesWhenFull(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, fmt.Sprintf("old.%d.rec", maxBytes-1))
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Leave(dir, &Record{ID: "id1"}); !errors.Is(err, ErrFull) {
		t.Errorf("a full spool says %v, want %v", err, ErrFull)
	}
	if err := os.Remove(huge); err != nil {
		t.Fatal(err)
	}
	if err := Leave(dir, &Record{ID: "id1"}); err != nil {
		t.Errorf("a spool with room refuses: %v", err)
	}
}
