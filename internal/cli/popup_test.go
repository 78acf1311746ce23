//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The key that `tmux install` binds, pressed in a client of a real tmux: the
// popup is the live view. It shows the request, a key approves it, the agent
// hears that, and q closes the popup.
func TestPopupKey(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	buildHookClient(t)
	h, err := newHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the tmux servers, whose sockets are in there
		if err := h.end(); err != nil {
			t.Error(err)
		}
	})
	env := append(os.Environ(), h.env()...)
	env = append(env, "TMUX=", "TMUX_PANE=", "TERM=xterm-256color", "SHELL=/bin/sh", "LC_ALL=C.UTF-8")
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		return strings.TrimRight(string(out), "\n"), err
	}
	must := func(name string, args ...string) string {
		t.Helper()
		out, err := run(name, args...)
		if err != nil {
			t.Fatalf("%s %v: %v: out = %s, want no error", name, args, err, out)
		}
		return out
	}
	server := func(name string) func(args ...string) string {
		socket := filepath.Join(h.Base, name)
		if out, err := run(program, "-f", "/dev/null", "-u", "-S", socket, "new-session", "-d", "-x", "110", "-y", "30",
			"-s", "main", "sleep 600"); err != nil {
			t.Skipf("tmux does not start here: %v: %s", err, out)
		}
		t.Cleanup(func() { _, _ = run(program, "-S", socket, "kill-server") })
		return func(args ...string) string {
			t.Helper()
			return must(program, append([]string{"-S", socket}, args...)...)
		}
	}
	see := func() string { return "" }
	eventually := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if holds() {
				return
			}
		}
		t.Fatalf("never: %s; on the screen is\n%s", what, see())
	}

	inner, outer := server("in"), server("out")
	inner("set-option", "-g", "prefix", "C-a")
	var major, minor int
	version := strings.TrimPrefix(must(program, "-V"), "tmux ")
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err == nil && (major < 3 || major == 3 && minor < 2) {
		t.Skip("this tmux has no popups:", version)
	}
	env = append(env, "TMUX="+filepath.Join(h.Base, "in")+",1,0")
	must("hookmux", "tmux", "install", "--yes")
	env = append(env, "TMUX=")
	outer("respawn-pane", "-k", "-t", "main", "exec "+program+" -u -S "+filepath.Join(h.Base, "in")+" attach-session")
	eventually("a client is attached", func() bool { return inner("list-clients") != "" })

	must("hookmux", "away")
	hook := exec.Command("hookmux-hook", "claude", "PermissionRequest", "120")
	hook.Env = env
	hook.Stdin = strings.NewReader(`{"session_id":"popup-1","hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash","tool_input":{"command":"make shipment"}}`)
	var heard strings.Builder
	hook.Stdout = &heard
	if err := hook.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hook.Process.Kill() }()
	eventually("the request waits", func() bool {
		return strings.Contains(must("hookmux", "inbox", "--json"),
			`"id": "`)
	})
	see = func() string { return outer("capture-pane", "-p", "-t", "main") }
	outer("send-keys", "-t", "main", "C-a", "A")
	eventually("the popup shows who waits and for what", func() bool {
		return strings.Contains(see(), "▲ 1 waiting") && strings.Contains(see(), "$ make shipment")
	})
	ended := make(chan error, 1)
	go func() { ended <- hook.Wait() }()
	eventually("the agent hears the key", func() bool {
		outer("send-keys", "-t", "main", "a") // too early at first: it must have been shown for a while
		select {
		case err := <-ended:
			if err != nil || !strings.Contains(heard.String(), `"allow"`) {
				t.Errorf("the hook says %q, %v; want an answer with allow", heard.String(), err)
			}
			return true
		case <-time.After(1200 * time.Millisecond): // sooner, it would be a key that is held
			return false
		}
	})
	eventually("the popup shows that it goes on", func() bool { return !strings.Contains(see(), "▲ 1 waiting") })
	if !strings.Contains(see(), "claude") {
		t.Errorf("the session left the popup:\n%s", see())
	}
	outer("send-keys", "-t", "main", "q")
	eventually("q closes it", func() bool { return !strings.Contains(see(), "claude") })
}
