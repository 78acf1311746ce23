package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestTerminalID(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "terminals.json")
	ask := func(tty string) string {
		t.Helper()
		id, err := TerminalID(file, tty)
		if err != nil {
			t.Fatal(err)
		}
		if !validUUID(id) {
			t.Fatalf("%q is no UUID", id)
		}
		return id
	}
	one := ask("/dev/pts/1")
	if again := ask("/dev/pts/1"); again != one {
		t.Errorf("the same terminal: %s and %s", one, again)
	}
	if other := ask("/dev/pts/2"); other == one {
		t.Error("two terminals have one id")
	}
	if first := ask(""); ask("") == first {
		t.Error("without a terminal an id is remembered")
	}
	if err := os.WriteFile(file, []byte(`{"/dev/pts/1":{"id":"; rm"},"x"`), 0o600); err != nil {
		t.Fatal(err)
	}
	anew := ask("/dev/pts/1")
	if anew != ask("/dev/pts/1") {
		t.Error("a broken file is not begun anew")
	}
	if err := os.WriteFile(file, []byte(`{"/dev/pts/1":{"id":"$(x)"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ask("/dev/pts/1") // what is printed is always a UUID
}

func TestTerminalIDsAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "terminals.json")
	var wait sync.WaitGroup
	ids := make([]string, 24)
	for i := range ids {
		wait.Go(func() { ids[i], _ = TerminalID(file, fmt.Sprintf("/dev/pts/%d", i%12)) })
	}
	wait.Wait()
	seen := map[string]bool{}
	for i := range 12 {
		if ids[i] == "" || ids[i] != ids[i+12] || seen[ids[i]] {
			t.Errorf("terminal %d has %q and %q", i, ids[i], ids[i+12])
		}
		seen[ids[i]] = true
	}
}

func TestForgetOldest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "terminals.json")
	known := map[string]terminal{}
	for i := range keepTerminals + 40 {
		known[fmt.Sprint(i)] = terminal{ID: "x"}
	}
	forgetOldest(known)
	if len(known) != keepTerminals {
		t.Errorf("%d are kept in %s", len(known), file)
	}
}
