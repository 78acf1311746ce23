package realagents

import (
	"os"
	"path/filepath"
	"testing"
)

// Only empty folders of this home's own sessions go.
func TestSweep(t *testing.T) {
	home, at := t.TempDir(), filepath.Join(t.TempDir(), "sessions")
	old := table
	table = []Agent{{Name: "acme", Leftover: &Leftover{Sessions: ".acme/sessions/*/*", At: at}}}
	t.Cleanup(func() { table = old })
	for _, dir := range []string{
		filepath.Join(home, ".acme/sessions/p/mine"), filepath.Join(home, ".acme/sessions/p/full"),
		filepath.Join(at, "mine"), filepath.Join(at, "full", "x"), filepath.Join(at, "theirs"),
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	Sweep("acme", home)
	Sweep("nobody", home)
	for name, want := range map[string]bool{"mine": false, "full": true, "theirs": true} {
		if _, err := os.Stat(filepath.Join(at, name)); (err == nil) != want {
			t.Errorf("%s is there: %v; want (err == nil) == want", name, err == nil)
		}
	}
	for _, name := range []string{"full", "theirs"} {
		if err := os.RemoveAll(filepath.Join(at, name)); err != nil {
			t.Fatal(err)
		}
	}
	Sweep("acme", home)
	if _, err := os.Stat(at); err == nil {
		t.Error("the empty folder is still there")
	}
}
