//go:build unix

package window

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// A pipe in the place of the file is not waited for: the daemon could not end.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	claude, _ := agent.Builtin().Agent("claude")
	dir := t.TempDir()
	for _, d := range []string{"projects/p", "sessions"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "sessions/77.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if at, ok := IdleSince(claude.Inbox.State, filepath.Join(dir, "projects/p/s.jsonl"), "s", 77); ok {
		t.Errorf("a pipe says that the session is idle since %v, want nothing", at)
	}
}
