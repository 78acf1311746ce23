package tmux

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// private starts a tmux server of the test's own and ends it with the test.
func private(t *testing.T) *Server {
	t.Helper()
	program, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	dir := sandbox.TempDir(t)
	s := &Server{Socket: filepath.Join(dir, "s"), Program: program}
	cmd := exec.Command(program, "-f", "/dev/null", "-u", "-S", s.Socket, "new-session", "-d", "-x", "120", "-y", "30",
		"-s", "main", "/bin/sh")
	cmd.Env = append(withoutVariables(os.Environ(), "TMUX", "TMUX_PANE", "ENV"), "HOME="+dir, "TERM=xterm-256color",
		"PS1=ready> ", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("tmux does not start here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(program, "-S", s.Socket, "kill-server").Run() })
	return s
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (s *Server) ask(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.runCommand(context.Background(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(out, "\n")
}

// viewers are the servers whose pane shows another one.
var viewers = map[*Server]*Server{}

// viewerKeys presses a key in the client that draw made.
func viewerKeys(t *testing.T, s *Server, key string) {
	t.Helper()
	viewers[s].ask(t, "send-keys", "-t", "main", key)
}

// draw has a second client show the server, and returns what it draws.
func draw(t *testing.T, s *Server) func() string {
	t.Helper()
	viewer := private(t)
	viewers[s] = viewer
	viewer.ask(t, "set-option", "-g", "status", "off")
	viewer.ask(t, "resize-window", "-t", "main", "-x", "400", "-y", "20") // all of a long status line
	viewer.ask(t, "respawn-pane", "-k", "-t", "main", "TMUX= exec "+s.Program+" -u -S "+s.Socket+" attach-session")
	await.Until(t, "a client is attached", func() bool { return s.ask(t, "list-clients") != "" })
	return func() string { return viewer.ask(t, "capture-pane", "-p", "-t", "main") }
}

func TestNoServer(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	s := &Server{Socket: filepath.Join(t.TempDir(), "none")}
	if _, err := s.Panes(context.Background()); !errors.Is(err, ErrNoServer) {
		t.Errorf("got %v; want err to be ErrNoServer", err)
	}
	if s.Running(context.Background()) {
		t.Error("asking started a server")
	}
}

func TestNewWindowOpensBesideThePanes(t *testing.T) {
	s, ctx := private(t), context.Background()
	one := must[[]Pane](t)(s.Panes(ctx))[0]
	must[Pane](t)(s.Open(ctx, "", "last", t.TempDir(), []string{"sleep", "600"}))
	if err := s.NewWindow(ctx, one.ID, "build", "exec sleep 600"); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range must[[]Pane](t)(s.Panes(ctx))[1:] {
		names = append(names, p.WindowName)
	}
	if got := strings.Join(names, " "); got != "build last" {
		t.Errorf("behind the pane's window there are %q, want the new one at once behind it, then the last", got)
	}
	if err := s.NewWindow(ctx, "%999", "build", "exec sleep 600"); err == nil {
		t.Error("a window opens beside a pane that isn't there")
	}
}

func TestPanesAndTheirProcesses(t *testing.T) {
	s, ctx := private(t), context.Background()
	one := must[[]Pane](t)(s.Panes(ctx))[0]
	if one.PID == 0 || one.TTY == "" || one.SessionIs != "main" || one.Dead || !one.Active {
		t.Fatalf(`one = %+v, want one.PID other than 0, one.TTY not empty, one.SessionIs = "main", not one.Dead and `+
			`one.Active`, one)
	}
	dir := t.TempDir()
	two := must[Pane](t)(s.Open(ctx, "", "second", dir, []string{"sleep", "600"}))
	if two.WindowName != "second" || two.Path != "" && filepath.Base(two.Path) != filepath.Base(dir) {
		t.Errorf(`two = %+v, want two.WindowName = "second" and not two.Path != "" && filepath.Base(two.Path) != `+
			`filepath.Base(dir)`, two)
	}
	if _, err := proc.System().Lookup(one.PID); err != nil {
		t.Skip("the pane's processes cannot be seen from here:", err)
	}
	table := proc.System()
	if got, ok, _ := s.PaneOf(ctx, table, Hint{PID: two.PID, Pane: two.ID}); !ok || got.ID != two.ID {
		t.Errorf("the pane of its own process: %+v", got)
	}
	if got, ok, _ := s.PaneOf(ctx, table, Hint{PID: two.PID, Pane: one.ID}); !ok || got.ID != two.ID {
		t.Errorf("an environment that lies: %+v", got)
	}
	if got, ok, _ := s.PaneOf(ctx, table, Hint{PID: os.Getpid(), Pane: one.ID}); ok {
		t.Errorf("a process that sits elsewhere: %+v", got)
	}
	await.Until(t, "the shell waits", func() bool { return AtShell(table, one) })
	if AtShell(table, two) {
		t.Error("sleep is no shell")
	}
	if err := s.Type(ctx, one.ID, "sleep 600", true); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the shell runs something", func() bool { return !AtShell(table, one) })
}

func TestOpenRunsWordsAsTheyAre(t *testing.T) {
	s, ctx := private(t), context.Background()
	dir := t.TempDir()
	words := []string{"a;", ";", "kill-server", "#{host}", "#(touch " + dir + "/ran)", "$HOME", "it's", "-t", ""}
	p, err := s.Open(ctx, "", "words", dir, append(
		[]string{"/bin/sh", "-c", `for w; do printf '<%s>\n' "$w"; done > ` + dir + `/said.new; mv ` + dir +
			`/said.new ` + dir + `/said; exec sleep 600`, "sh"}, words...))
	if err != nil {
		t.Fatalf("p = %+v, error %v; want no error", p, err)
	}
	await.Until(t, "it ran", func() bool { _, err := os.Stat(dir + "/said"); return err == nil })
	said, _ := os.ReadFile(dir + "/said")
	if want := "<" + strings.Join(words, ">\n<") + ">\n"; string(said) != want {
		t.Errorf("got\n%s\nwant\n%s", said, want)
	}
	if _, err := os.Stat(dir + "/ran"); err == nil {
		t.Error("a word was run")
	}
}

func TestTypeIsOnlyText(t *testing.T) {
	s, ctx := private(t), context.Background()
	dir := t.TempDir()
	p := must[Pane](t)(s.Open(ctx, "", "", dir, []string{"/bin/sh", "-c", "stty -echo; echo ready; exec cat > said"}))
	await.Until(t, "cat listens", func() bool {
		return strings.Contains(s.ask(t, "capture-pane", "-p", "-t", p.ID),
			"ready")
	})
	hostile := "C-c Enter #(touch " + dir + "/ran) \x1b[201~\x03\x04 tail;"
	if err := s.Type(ctx, p.ID, hostile, true); err != nil {
		t.Fatal(err)
	}
	want := "C-c Enter #(touch " + dir + "/ran) [201~ tail;\n"
	await.Until(t, "it arrived", func() bool { b, _ := os.ReadFile(dir + "/said"); return string(b) == want })
	if got := s.ask(t, "list-buffers"); got != "" {
		t.Errorf("a buffer is left: %s", got)
	}
	if err := s.Type(ctx, "%999", "x", false); err == nil {
		t.Error("a closed pane takes nothing")
	}
}

func TestFocus(t *testing.T) {
	s, ctx := private(t), context.Background()
	first := must[[]Pane](t)(s.Panes(ctx))[0]
	s.ask(t, "new-session", "-d", "-s", "other", "/bin/sh")
	far := must[Pane](t)(s.Open(ctx, "other", "far", "", []string{"sleep", "600"}))
	got := must[Focused](t)(s.Focus(ctx, far.ID, ""))
	if got.Client != "" || len(got.Attach) == 0 {
		t.Errorf("without a client: %+v", got)
	}
	if active := s.ask(t, "display-message", "-p", "-t", "other:", "#{pane_id}"); active != far.ID {
		t.Errorf("the next client would see %s", active)
	}
	draw(t, s)
	if _, err := s.Focus(ctx, first.ID, ""); err != nil {
		t.Fatal(err)
	}
	showing := func() string { return s.ask(t, "list-clients", "-F", "#{pane_id}") }
	await.Until(t, "the client shows the first", func() bool { return showing() == first.ID })
	if got := must[Focused](t)(s.Focus(ctx, far.ID, first.ID)); got.Client == "" {
		t.Errorf("got %+v, want got.Client not empty", got)
	}
	await.Until(t, "the client shows the other", func() bool { return showing() == far.ID })
	for _, bad := range []string{"", "%", "%x", "main", "%1;kill-server", "%99"} {
		if _, err := s.Focus(ctx, bad, ""); err == nil {
			t.Errorf("%q was taken; want an error", bad)
		}
	}
}
