package agentstest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// witness records how a helper ended a test.
type witness struct {
	testing.TB
	skipped, failed string
}

func (w *witness) Helper()    {}
func (w *witness) Log(...any) {}
func (w *witness) Skipf(f string, args ...any) {
	w.skipped = fmt.Sprintf(f, args...)
	runtime.Goexit()
}
func (w *witness) Fatalf(f string, args ...any) {
	w.failed = fmt.Sprintf(f, args...)
	runtime.Goexit()
}

func require(name string) *witness {
	w := &witness{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Require(w, name)
	}()
	<-done
	return w
}

func TestRequireSkipsVisibly(t *testing.T) {
	t.Setenv("HOOKMUX_VERIFY", "codex grok")
	if w := require("claude"); !strings.Contains(w.skipped, "HOOKMUX_VERIFY") {
		t.Errorf(`w = %+v, want "HOOKMUX_VERIFY" in w.skipped`, w)
	}
	// Asked for, but there is no npm: a skip that says so, a failure when strict.
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOOKMUX_AGENTS_DIR", t.TempDir())
	if w := require("codex"); !strings.Contains(w.skipped, "cannot be installed here") || w.failed != "" {
		t.Errorf(`w = %+v, want "cannot be installed here" in w.skipped and w.failed = ""`, w)
	}
	t.Setenv("HOOKMUX_VERIFY_STRICT", "1")
	if w := require("codex"); !strings.Contains(w.failed, "codex") || w.skipped != "" {
		t.Errorf(`w = %+v, want "codex" in w.failed and w.skipped = ""`, w)
	}
	t.Setenv("HOOKMUX_VERIFY", "all")
	if w := require("grok"); !strings.Contains(w.failed, "grok") {
		t.Errorf(`w = %+v, want "grok" in w.failed`, w)
	}
}

func TestProjectIsItsOwnRepository(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(Project(t), ".git", "HEAD"))
	if err != nil || !strings.HasPrefix(string(b), "ref: ") {
		t.Errorf(`b = %q, error %v; want no error and string(b) that begins with "ref: "`, b, err)
	}
}
