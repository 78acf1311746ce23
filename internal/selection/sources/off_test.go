package sources

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// A note that hookmux is off counts as long as its file is the one that was written with it:
// an earlier one that was kept and put back, in whatever way, switches nothing off.
func TestOffThatWasPutBackCountsForNothing(t *testing.T) {
	state := t.TempDir()
	file := filepath.Join(state, OffFile)
	if err := WriteOff(state, &Off{Since: time.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	if files.ChangedAt(info) == 0 {
		t.Skip("this system doesn't tell when a file changed")
	}
	if o, err := ReadOff(state); err != nil || !o.At(time.Now()) {
		t.Fatalf("got %+v, %v; want that hookmux is off", o, err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	note := Off{Written: time.Unix(0, files.ChangedAt(info))}
	for after, older := range map[time.Duration]bool{0: false, -writeTime + time.Second: false, -writeTime - time.Second: true} {
		moved := note
		moved.Written = note.Written.Add(after)
		if isOlder(&moved, info) != older {
			t.Errorf("a file that changed %v after its note: %v, want %v", -after, !older, older)
		}
	}

	// One that was sealed a while ago, as a copy of it is.
	defer func(before func() time.Time) { now = before }(now)
	now = func() time.Time { return time.Now().Add(-2 * writeTime) }
	if err := WriteOff(state, &Off{Since: now()}); err != nil {
		t.Fatal(err)
	}
	if o, err := ReadOff(state); err == nil || o != nil {
		t.Errorf("a note from a while ago: got %+v, %v; want that it counts for nothing", o, err)
	}
	if err := os.WriteFile(file, written, 0o600); err != nil { // within the minute it may be a slow disk
		t.Fatal(err)
	}
	if o, err := ReadOff(state); err != nil || o == nil {
		t.Errorf("a note from just now: got %+v, %v; want that it counts", o, err)
	}
}
