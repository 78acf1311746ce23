package start

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		record wire.ResumeRecord
		want   string
	}{
		{wire.ResumeRecord{Argv: []string{"claude", "--resume", "a b"}}, "claude --resume 'a b'"},
		{wire.ResumeRecord{Argv: []string{"codex", "resume", "x"}, Run: true, Dir: "/p/my app",
			Env: []string{"CODEX_HOME=/c"}}, "cd '/p/my app' && env 'CODEX_HOME=/c' hookmux run codex resume x"},
	} {
		if got := Line(&c.record); got != c.want {
			t.Errorf("the line is %s, want %s", got, c.want)
		}
	}
}

func TestWithVariables(t *testing.T) {
	got := withVariables([]string{"A=1", "B=2", "PWD=/old"}, []string{"B=3", "PWD=/new", "EMPTY="})
	if want := []string{"A=1", "B=3", "PWD=/new"}; !slices.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
}

func TestShellCommand(t *testing.T) {
	for shell, want := range map[string]string{
		"/bin/zsh": "/bin/zsh -ic run; exec /bin/zsh",
		"/opt/nu":  `/bin/sh -c run; exec "${SHELL:-/bin/sh}"`,
		"zsh":      `/bin/sh -c run; exec "${SHELL:-/bin/sh}"`,
		"":         `/bin/sh -c run; exec "${SHELL:-/bin/sh}"`,
	} {
		if got := strings.Join(ShellCommand(shell, "run"), " "); got != want {
			t.Errorf("in %q a line runs as %s, want %s", shell, got, want)
		}
	}
}

// A session whose program or folder is gone is not taken up, and the reason says so.
func TestHereFails(t *testing.T) {
	none := func(string) string { return "" }
	r := &Resumer{Getenv: none, Environ: []string{"PATH=/nowhere"}}
	t.Setenv("PATH", filepath.Join(t.TempDir(), "empty"))
	err := r.BecomeAgent(context.Background(), &wire.ResumeRecord{Agent: "claude", Argv: []string{"claude", "--resume", "x"}})
	var reason *Error
	if !errors.As(err, &reason) || reason.Kind != NotFound ||
		!strings.Contains(reason.Text, "claude --resume x") {
		t.Errorf("without its program the error is %v, want one that names the command", err)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	err = r.BecomeAgent(context.Background(), &wire.ResumeRecord{Agent: "claude", Dir: gone, Title: "bug",
		Argv: []string{"claude"}})
	if err == nil || !strings.HasPrefix(err.Error(), "bug: its folder is gone") {
		t.Errorf("without its folder the error is %v", err)
	}
}
