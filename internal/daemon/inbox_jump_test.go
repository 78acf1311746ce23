package daemon

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire"
)

// privateTmux returns a tmux server of the test's own, with one window; run asks it.
func privateTmux(t *testing.T) (socket string, run func(args ...string) string) {
	t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	dir := sandbox.TempDir(t)
	socket = filepath.Join(dir, "s")
	command := func(args ...string) (string, error) {
		cmd := exec.Command(program, append([]string{"-f", "/dev/null", "-u", "-S", socket}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm-256color", "SHELL=/bin/sh",
			"LC_ALL=C.UTF-8"}
		out, err := cmd.CombinedOutput()
		return strings.TrimRight(string(out), "\n"), err
	}
	if out, err := command("new-session", "-d", "-x", "100", "-y", "20", "-s", "main", "sleep 600"); err != nil {
		t.Skipf("tmux does not start here: %v: %s", err, out)
	}
	t.Cleanup(func() { _, _ = command("kill-server") })
	return socket, func(args ...string) string {
		t.Helper()
		out, err := command(args...)
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return out
	}
}

// A person's program has the pane of a session brought before them; an agent's
// only learns where it is.
func TestJumpBringsThePaneForward(t *testing.T) {
	w := open(t)
	socket, tmux := privateTmux(t)
	_, viewer := privateTmux(t)
	first := tmux("display-message", "-p", "-t", "main", "#{pane_id}")
	pane := tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main", "sleep 600")
	w.watchInbox()
	r := permission("s1", "make")
	r.Env = []byte("TMUX=" + socket + ",1,0\x00TMUX_PANE=" + pane + "\x00")
	call := w.startCall(r)
	item := w.waiting()

	jump := func(id string) (got struct {
		Matched, Focused          bool
		Agent, Session, Pane, Why string
	}) {
		t.Helper()
		raw, code := w.cmux(wire.MethodCmuxJump, map[string]string{"workstream_id": id})
		if code != "" || json.Unmarshal(raw, &got) != nil {
			t.Fatalf(`raw = %s, code = %s; want code = "" and no error`, raw, code)
		}
		return got
	}
	chosen := func() string { return tmux("display-message", "-p", "-t", "main:", "#{pane_id}") }

	// Nobody is attached: the pane is chosen for the next one, and that is said.
	if got := jump("claude-s1"); !got.Matched || got.Focused || got.Pane != pane ||
		!strings.Contains(got.Why, "no client is attached to that tmux") {
		t.Errorf(`got %+v, want got.Matched, not got.Focused, got.Pane = %q and "no client is attached to that tmux" in got.Why`,
			got, pane)
	}
	if chosen() != pane {
		t.Errorf("chosen is %s, not %s", chosen(), pane)
	}
	tmux("select-window", "-t", first)
	viewer("respawn-pane", "-k", "-t", "main", "TMUX= exec tmux -u -S "+socket+" attach-session")
	showing := func() string { return tmux("list-clients", "-F", "#{pane_id}") }
	w.Eventually("a client shows the first window", func() bool { return showing() == first })

	// An agent moves nobody's windows.
	w.SetProcesses(daemontest.BelowAgent("claude"))
	if got := jump("claude-s1"); got.Focused {
		t.Errorf("got %+v, want not got.Focused", got)
	}
	w.SetProcesses(daemontest.AtTerminal())
	if showing() != first {
		t.Error("an agent moved the user's window")
	}
	if got := jump("claude-s1"); !got.Matched || !got.Focused || got.Agent != "claude" || got.Session != "s1" ||
		got.Why != "" {
		t.Errorf(`got %+v, want got.Matched, got.Focused, got.Agent = "claude", got.Session = "s1" and got.Why = ""`,
			got)
	}
	w.Eventually("the client shows the agent's pane", func() bool { return showing() == pane })

	// A pane that is gone, a session that is over, one nobody knows.
	tmux("kill-pane", "-t", pane)
	if got := jump("claude-s1"); !got.Matched || got.Focused || got.Why == "" {
		t.Errorf("got %+v, want got.Matched, not got.Focused and got.Why not empty", got)
	}
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
	call.answer()
	w.Send(daemontest.SessionEvent("claude", "SessionEnd", map[string]any{"session_id": "s1"}))
	if got := jump("claude-s1"); got.Focused || got.Why != "the session has ended" {
		t.Errorf(`got %+v, want not got.Focused and got.Why = "the session has ended"`, got)
	}
	if got := jump("claude-nobody"); got.Matched || got.Focused {
		t.Errorf("got %+v, want not got.Matched and not got.Focused", got)
	}
}
