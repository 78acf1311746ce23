package sessions

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// Plain Codex runs in a daemon that its terminals share. Its dialog is answered in the
// terminal that shows the session now, and nowhere when the daemon names none.
func TestASharedDaemonsDialogIsAnswered(t *testing.T) {
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	screen, err := filepath.Abs("window/testdata/codex-80-0.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := sandbox.TempDir(t)
	socket := filepath.Join(dir, "s")
	ask := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"-f", "/dev/null", "-u", "-S", socket}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm-256color", "SHELL=/bin/sh", "LC_ALL=C.UTF-8"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	shows := `stty -echo -icanon; printf '\033[2J\033[H'; cat '` + screen + `'; dd bs=1 count=1 2>/dev/null >'` + dir +
		`/key'; printf '\033[2J\033[Hdone'; sleep 600`
	ask("new-session", "-d", "-x", "80", "-y", "45", "-s", "main", shows)
	t.Cleanup(func() { _ = exec.Command(program, "-S", socket, "kill-server").Run() })
	pid, err := strconv.Atoi(ask("list-panes", "-F", "#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the dialog is drawn", func() bool { return strings.Contains(ask("capture-pane", "-p"), "esc to cancel") })

	rig, stop := newWaitingRig(t)
	defer stop()
	rig.sessions.deps.Processes, rig.sessions.daemons.deps.Processes = proc.System(), proc.System()
	shown := false
	rig.sessions.daemons.find = func(context.Context, state.Key, event.Place) (int, bool) { return pid, shown }
	place := event.Place{PID: agentPID, Start: 1, Shared: true, Pane: ask("list-panes", "-F", "#{pane_id}"), Mux: "tmux",
		Server: socket, TTY: ask("list-panes", "-F", "#{pane_tty}")}
	tell := func(ev event.Event) {
		ev.Agent, ev.Session, ev.Time, ev.Where = "codex", "s1", time.Now(), place
		rig.tell(ev, false)
	}
	tell(event.Event{Native: "UserPromptSubmit", Kind: event.TurnStart, Prompt: "Run it"})
	tell(event.Event{Native: "PermissionRequest", Kind: event.PermissionRequest,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"touch ran-1"}}})
	rig.sessions.tracker.sessions.SetPlace(state.Key{Agent: "codex", ID: "s1"}, place)
	items := rig.sessions.Waiting()
	if len(items) != 1 || !items[0].Answerable() {
		t.Fatalf("Waiting() = %+v; want one request that can be answered", items)
	}
	// A question for a code names what is answered.
	if item, _, ok := rig.approvals.Proofs().FindWaiting(items[0].ID); !ok || !strings.Contains(item.Shown, "$ touch ran-1") {
		t.Errorf("FindWaiting(%s) = %q, %v; want what it asks for", items[0].ID, item.Shown, ok)
	}
	answer := func() string {
		t.Helper()
		refused, err := rig.sessions.AnswerAtPrompt(context.Background(), items[0].ID, event.ChooseOnce)
		if err != nil {
			t.Fatal(err)
		}
		return refused
	}
	if refused := answer(); !strings.Contains(refused, "which terminal shows it") {
		t.Errorf("no terminal shows it, and the answer was %q; want a refusal that says so", refused)
	}
	shown = true
	if refused := answer(); refused != "" {
		t.Fatalf("refused: %s\n%s", refused, ask("capture-pane", "-p"))
	}
	await.Until(t, "the key arrives", func() bool {
		key, _ := os.ReadFile(filepath.Join(dir, "key"))
		return string(key) == "y"
	})
}
