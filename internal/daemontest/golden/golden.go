// Package golden compares what a test made with a file that holds what was right when
// somebody looked at it last. HOOKMUX_UPDATE=1 writes the files anew.
package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Match fails the test where a file does not hold exactly got.
func Match(t testing.TB, file, got string) {
	t.Helper()
	if os.Getenv("HOOKMUX_UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s does not hold what was made; look at it, and run this test with HOOKMUX_UPDATE=1 if it is right "+
			"(-file +made):\n%s", file, d)
	}
}
