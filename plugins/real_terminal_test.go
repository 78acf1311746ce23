package plugins_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/plugins"
)

// terminal is an agent in a tmux server of its own, as a person would see it.
type terminal struct {
	tmux, socket string
}

// startTerminal runs the agent interactively. Everything ends with the test.
func startTerminal(t *testing.T, s *realTestBed, args ...string) *terminal {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("needs a terminal, and tmux is not installed")
	}
	base := sandbox.TempDir(t)
	term := &terminal{tmux, filepath.Join(base, "s")}
	argv := append(append(append([]string(nil), s.Env...), s.In.Env...),
		append(append([]string(nil), s.In.Argv...), args...)...)
	writeFile(t, base, "start.sh", "cd "+shellquote.Word(s.Project)+" && exec env -i "+shellquote.Line(argv)+"\n")
	if out, err := term.do("-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "45",
		"/bin/sh "+shellquote.Word(filepath.Join(base, "start.sh"))); err != nil {
		t.Fatalf("error %v, out = %s; want no error", err, out)
	}
	t.Cleanup(func() {
		if t.Failed() {
			screen, _ := term.do("capture-pane", "-p")
			t.Logf("%s\n%s", s.kinds(), screen)
		}
		_, _ = term.do("kill-server") // its own socket, its own server
	})
	return term
}

func (term *terminal) do(args ...string) (string, error) {
	cmd := exec.Command(term.tmux, append([]string{"-S", term.socket}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(term.socket), "TERM=xterm-256color",
		"LANG=C.UTF-8", "SHELL=/bin/sh"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestRealPiTerminal(t *testing.T) {
	agentstest.Repeats(t, "the row ask-dialog")
	s := newRealTestBed(t, "pi", plugins.Options{})
	s.Model.SetScenario(s.Run, script(s.TestBed, "touch ran-asked", "touch ran-denied"))
	s.startDaemon(t)
	keys := startTerminal(t, s, "--provider", "scripted", "--model", "scripted", "go "+model.Mark(""))
	eventually(t, "the dialog is open", func() bool { return len(s.events(event.UserAttention)) == 1 })
	if s.ran("asked") {
		t.Error("ran before it was asked about")
	}
	time.Sleep(300 * time.Millisecond) // the event comes before the dialog takes keys
	if out, err := keys.do("send-keys", "Enter"); err != nil {
		t.Fatalf(`error %v, keys.do("send-keys", "Enter") = %s; want no error`, err, out)
	}
	eventually(t, "the turn ends", func() bool { return len(s.events(event.TurnEnd)) == 1 })
	if !s.ran("asked") || s.ran("denied") {
		t.Errorf("asked ran %v, denied ran %v", s.ran("asked"), s.ran("denied"))
	}
	for _, ev := range s.events(event.ToolBefore) {
		if ev.Attended != event.AttendedYes {
			t.Errorf("attended %q, want event.AttendedYes", ev.Attended)
		}
	}
}

func TestRealOpenCodeTerminal(t *testing.T) {
	agentstest.Repeats(t, "the rows about leave")
	s := newRealTestBed(t, "opencode", plugins.Options{})
	s.Env = append(s.Env, `OPENCODE_PERMISSION={"bash":"ask"}`)
	s.Model.SetScenario(s.Run, script(s.TestBed, "touch ran-permitted", "touch ran-denied", "touch ran-forbidden"))
	s.startDaemon(t)
	began := time.Now()
	startTerminal(t, s, "--prompt", "go "+model.Mark(""))
	eventually(t, "the first event", func() bool { return s.kinds() != "" })
	t.Logf("first event after %s", time.Since(began).Round(time.Millisecond))
	eventually(t, "the turn ends", func() bool { return len(s.events(event.TurnEnd)) == 1 })
	if !s.ran("permitted") || s.ran("denied") || s.ran("forbidden") {
		t.Errorf("permitted ran %v, denied ran %v, forbidden ran %v", s.ran("permitted"), s.ran("denied"),
			s.ran("forbidden"))
	}
	if n := len(s.events(event.PermissionRequest)); n != 2 {
		t.Errorf("%d permissions were asked for", n)
	}
	for _, ev := range s.events(event.ToolBefore) {
		if ev.Attended != event.AttendedYes {
			t.Errorf("attended %q, want event.AttendedYes", ev.Attended)
		}
	}
}
