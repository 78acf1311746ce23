package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire"
)

// A device resumes a session that ended: once, in tmux on this machine, and only if it may
// answer. All that a shell gets to see is hookmux and the session's id.
func TestWebResumesASession(t *testing.T) {
	w := open(t)
	socket, tmux := privateTmux(t)
	// A pane at a shell in the session's folder: what's typed there is shown and not run.
	shell := filepath.Join(sandbox.TempDir(t), "bash")
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(cat)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(shell, program, 0o700); err != nil {
		t.Fatal(err)
	}
	pane := tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main", "-c", w.Base, shell, "-u")
	w.set("resume.claude", "on")
	w.SetProcesses(agentAt(daemontest.AgentPID, []string{"claude", "--model", "opus"}, nil))
	r := daemontest.SessionEvent("claude", "UserPromptSubmit", map[string]any{"cwd": w.Base, "prompt": "go"})
	r.Env = []byte("TMUX=" + socket + ",1,0\x00TMUX_PANE=" + pane + "\x00")
	w.Send(r)
	w.mustRecord("s1")
	w.SetProcesses(daemontest.AtTerminal())
	address := w.servePage()
	phone, reader := w.pairBrowser(address, ""), w.pairBrowser(address, wire.ScopeRead)
	resume := func(b *browser, session, pin string) (int, string) {
		t.Helper()
		return b.do("POST", "/api/resume", map[string]string{"session": session, "pin": pin})
	}
	refused := func(what string, b *browser, session, pin string, want int, with string) {
		t.Helper()
		if status, text := resume(b, session, pin); status != want || !strings.Contains(text, with) {
			t.Errorf("%s: %d %s, want %d with %q", what, status, text, want, with)
		}
	}

	refused("a device that may only read", reader, "s1", "", 403, `"scope"`)
	refused("none named", phone, "", "", 400, "which session")
	refused("one that isn't there", phone, "nothing", "", 404, "")
	w.MustCall(wire.MethodPIN, wire.PINParams{New: "4321"}, nil)
	refused("without the PIN", phone, "s1", "", 403, `"pin"`)
	refused("with another PIN", phone, "s1", "1111", 403, `"pin"`)
	screen := func() string { return tmux("capture-pane", "-p", "-J", "-t", pane) }
	if text := strings.TrimSpace(screen()); text != "" {
		t.Errorf("the shell got %q of what was refused", text)
	}

	if status, text := resume(phone, "s1", "4321"); status != 200 || !strings.Contains(text, pane) {
		t.Fatalf("%d %s, want it resumed in its pane", status, text)
	}
	w.Eventually("the shell is told", func() bool { return strings.Contains(screen(), " resume claude:s1") })
	if text := screen(); strings.Contains(text, "opus") {
		t.Errorf("the shell is told %q, want hookmux and the session's id alone", text)
	}
	// What it runs there claims the session, so that nobody resumes it twice.
	if list, err := w.records("s1", true); err != nil || list[0].Live != "" {
		t.Errorf("the claim: %+v %v", list, err)
	}
	refused("twice", phone, "s1", "4321", 409, "resumed twice")
}
