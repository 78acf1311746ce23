package notify

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/tty"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// screen is a tmux that a person is attached to: their terminal is the pane of a
// second tmux, of which every byte is kept.
type screen struct {
	t            *testing.T
	inner, outer string // sockets
	bytes        string // a file
}

func startScreen(t *testing.T) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("terminals are left out: tmux is not installed")
	}
	folder := sandbox.TempDir(t)
	s := &screen{t: t, inner: filepath.Join(folder, "i"), outer: filepath.Join(folder, "o"),
		bytes: filepath.Join(folder, "bytes")}
	for _, socket := range []string{s.inner, s.outer} {
		s.tmux(socket, "new-session", "-d", "-x", "200", "-y", "20", "/bin/sh")
		t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	}
	s.tmux(s.outer, "pipe-pane", "cat >>"+s.bytes)
	s.tmux(s.outer, "respawn-pane", "-k", "TMUX= exec tmux -u -S "+s.inner+" attach-session")
	await.Until(t, "somebody is attached", func() bool { return s.tmux(s.inner, "list-clients") != "" })
	return s
}

func (s *screen) tmux(socket string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-u", "-S", socket}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(socket), "TERM=xterm-256color",
		"LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// has reports whether the user's terminal was sent a text.
func (s *screen) has(text string) bool {
	b, _ := os.ReadFile(s.bytes)
	return strings.Contains(string(b), text)
}

func TestTerminalsAreWrittenTo(t *testing.T) {
	s, ctx := startScreen(t), context.Background()
	seen := &terminals{servers: func(string, string) []string { return []string{s.inner + "-none", s.inner} }}
	n := sample()
	if s.has("\a") {
		t.Fatal("the bell rang before anybody rang it")
	}
	if err := (bell{seen}).show(ctx, n); err != nil {
		t.Fatalf("the bell does not ring: %v", err)
	}
	await.Until(t, "the bell rings", func() bool { return s.has("\a") })
	for _, kind := range []string{"9", "777", "99"} {
		channel := oscNotice{seen, func(string) string { return kind }}
		if err := channel.show(ctx, n); err != nil {
			t.Fatalf("OSC %s is not sent: %v", kind, err)
		}
		await.Until(t, "OSC "+kind+" arrives", func() bool { return s.has(oscText(kind, n)) })
		if err := channel.withdraw(ctx, n); err != nil {
			t.Fatalf("OSC %s is not withdrawn: %v", kind, err)
		}
	}
	await.Until(t, "kitty is told to take it back", func() bool { return s.has("\x1b]99;i=hookmux-r1:p=close;\x1b\\") })
	if err := (tmuxMessage{seen}).show(ctx, n); err != nil {
		t.Fatalf("the message is not sent: %v", err)
	}
	await.Until(t, "tmux shows the message", func() bool { return s.has("Claude Code asks for permission") })
	nobody := &terminals{servers: func(string, string) []string { return []string{s.inner + "-none"} }}
	if err := (bell{nobody}).show(ctx, n); !errors.Is(err, errAbsent) {
		t.Errorf("error %v, want one that says that nobody is attached", err)
	}
	for _, bad := range []string{"", "/etc/passwd", "../x", "/dev/null", s.bytes} {
		if err := tty.Write(bad, ""); err == nil {
			t.Errorf("%q is written to as a terminal", bad)
		}
	}
}

// An agent can run a tmux of its own, with a terminal that it attached itself, or
// something that never answers: neither keeps notices from the user's terminal.
func TestAnotherServerHidesNobody(t *testing.T) {
	person, agents := startScreen(t), startScreen(t)
	folder, err := os.MkdirTemp("", "tmux") // short enough for a socket
	if err != nil {
		t.Fatalf("no folder for a socket: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	silent := filepath.Join(folder, "silent")
	listener, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatalf("no socket: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	seen := &terminals{servers: func(string, string) []string { return []string{silent, agents.inner, person.inner} }}
	if err := (bell{seen}).show(context.Background(), sample()); err != nil {
		t.Fatalf("the bell does not ring: %v", err)
	}
	await.Until(t, "the bell rings at the user's terminal", func() bool { return person.has("\a") })
}

// knownSessions are sessions that a test chose.
type knownSessions []wire.Session

func (k knownSessions) List(bool) []wire.Session { return k }

// viewers are live views, and the environment that they run in.
type viewers struct {
	Requests
	proc.Table
	pids    []int
	environ []string
}

func (v *viewers) Viewers() []int                { return v.pids }
func (v *viewers) Environ(int) ([]string, error) { return v.environ, nil }

// Whether the user looks is asked of tmux at that moment; Show moves no window
// under a person who types.
func TestLookingAndShowing(t *testing.T) {
	s := startScreen(t)
	first := s.tmux(s.inner, "display-message", "-p", "#{pane_id}")
	second := s.tmux(s.inner, "new-window", "-d", "-P", "-F", "#{pane_id}", "sleep 600")
	seconds, err := strconv.ParseInt(s.tmux(s.inner, "list-clients", "-F", "#{client_activity}"), 10, 64)
	if err != nil {
		t.Fatalf("when the client was used is not known: %v", err)
	}
	used := time.Unix(seconds, 0)
	aMomentLater := func() time.Time { return used.Add(time.Second) }
	views := &viewers{environ: []string{"TMUX=" + s.inner + ",1,0", "TMUX_PANE=" + first}}
	service := &Service{Deps: services.Deps{Catalogue: agent.Builtin(), Processes: views}, requests: views,
		now: aMomentLater, sessions: knownSessions{
			{Agent: "a", ID: "1", Mux: "tmux", Server: s.inner, Pane: first},
			{Agent: "a", ID: "2", Mux: "tmux", Server: s.inner, Pane: second},
			{Agent: "a", ID: "3"},
		}}
	looking := func(session string) bool {
		return service.readMachine(context.Background(), []sessionKey{{"a", session}}).isLooking("a", session)
	}
	if !looking("1") || looking("2") || looking("3") || looking("none") {
		t.Errorf("looks at %v %v %v %v, want the first alone", looking("1"), looking("2"), looking("3"),
			looking("none"))
	}
	s.tmux(s.inner, "select-window", "-t", second)
	if looking("1") || !looking("2") {
		t.Error("the other window is not noticed")
	}
	s.tmux(s.inner, "select-window", "-t", first)
	views.pids = []int{7}
	if !looking("2") || !looking("3") {
		t.Error("the live view in the first pane shows all of them, and is not noticed")
	}
	s.tmux(s.inner, "select-window", "-t", second)
	if looking("3") {
		t.Error("nobody looks at the live view")
	}
	s.tmux(s.inner, "select-window", "-t", first)
	views.pids = nil
	active := func() string { return s.tmux(s.inner, "display-message", "-p", "#{pane_id}") }
	service.showSession("a", "2") // a key was pressed a moment ago: the client attached
	if got := active(); got != first {
		t.Errorf("the pane is %s under a person who types, want %s", got, first)
	}
	service.now = func() time.Time { return used.Add(time.Minute) }
	service.showSession("a", "2")
	if got := active(); got != second {
		t.Errorf("the pane is %s, want %s", got, second)
	}
}

// A server that is named twice has its terminals once: nobody hears a bell two times.
func TestEachTerminalOnce(t *testing.T) {
	s := startScreen(t)
	all := &terminals{servers: func(string, string) []string { return []string{s.inner, s.inner} }}
	list, err := all.list(t.Context(), "", "")
	if err != nil || len(list) != 1 {
		t.Errorf("%d terminals, error %v; want 1", len(list), err)
	}
}
