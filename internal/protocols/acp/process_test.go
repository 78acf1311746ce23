//go:build unix

package acp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// An agent that has ended is not waited for because something that it started holds its output, and its errors, open:
// what it said passes, and its exit code is ours.
func TestEndedAgentIsNotWaitedFor(t *testing.T) {
	for _, c := range []struct{ what, held string }{
		{"holds its output", "2>/dev/null"},
		{"holds its errors", ">/dev/null"},
		{"holds both", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			line := `{"method":"x","params":"` + strings.Repeat("x", 200<<10) + `"}` + "\n" // more than a pipe holds
			said := file + ".says"
			if err := os.WriteFile(said, []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			script := fmt.Sprintf(`sh -c 'echo $$ > "$0"; exec sleep 3600' %q <&- %s &
				while ! test -s %q; do :; done; cat %q; exit 3`, file, c.held, file, said)
			t.Cleanup(func() {
				text, _ := os.ReadFile(file)
				if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
					_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
				}
			})
			var errors, editor bytes.Buffer
			a, err := Start([]string{"sh", "-c", script}, os.Environ(), &errors)
			if err != nil {
				t.Fatal(err)
			}
			fromEditor, hold := io.Pipe() // the editor says nothing, and stays
			defer hold.Close()
			talk := &Conversation{Naming: NameAgent(agent.Builtin(), "claude", []string{"claude"})}
			code, err := Serve(context.Background(), &Proxy{Conversation: talk,
				Daemon: &playedDaemon{asked: make(chan playedAsk, 1)}, FromEditor: fromEditor, ToEditor: &editor}, a)
			if err != nil || code != 3 {
				t.Errorf("exit code %d, %v; want 3 and no error", code, err)
			}
			if editor.String() != line {
				t.Errorf("the editor got %d bytes, want the whole line of %d", editor.Len(), len(line))
			}
		})
	}
}
