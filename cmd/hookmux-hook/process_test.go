//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// built holds the real program and a stand-in for the daemon, side by side as
// they are installed.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "hkbin"); built.err != nil {
			return
		}
		for name, source := range map[string]string{"hookmux-hook": ".", "hookmux": "./testdata/fakedaemon"} {
			build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(built.dir, name), source)
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			out, err := build.CombinedOutput()
			if err != nil {
				built.err = fmt.Errorf("build %s: %w\n%s", name, err, out)
				return
			}
		}
	})
	if built.err != nil {
		t.Fatalf("built.err = %v, want no error", built.err)
	}
	return filepath.Join(built.dir, "hookmux-hook")
}

func (w *world) command(args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(program(w.t), args...)
	cmd.Env = w.env
	return cmd
}

// endDaemon makes the stand-in go before its directory does.
func (w *world) endDaemon() {
	w.t.Helper()
	await.Until(w.t, "the daemon goes", func() bool {
		_ = os.Remove(w.dirs.Socket()) // each time: it may not have been there yet
		return !daemonstart.DaemonHoldsLock(w.dirs)
	})
}

func (w *world) note(name string) []string {
	text, _ := os.ReadFile(filepath.Join(w.dirs.Runtime, name))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestSize(t *testing.T) {
	info, err := os.Stat(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 2_700_000 {
		t.Errorf("the client has %d bytes; what has it come to link?", info.Size())
	}
}

// A hook that starts the daemon must come back, with its pipes closed, while the
// daemon lives on.
func TestDecidingStartsTheDaemon(t *testing.T) {
	w := newWorld(t)
	defer w.endDaemon()
	for range 2 {
		cmd := w.command(agent, deciding, "60")
		cmd.Stdin = strings.NewReader("payload")
		out, err := cmd.Output()
		if err != nil || string(out) != "payload" {
			t.Fatalf(`out = %q, error %v; want no error and string(out) = "payload"`, out, err)
		}
	}
	if got := w.note("starts"); len(got) != 1 || !strings.HasSuffix(got[0], "[daemon]") {
		t.Errorf(`starts: %q; want len(got) == 1 and got[0] to end with "[daemon]"`, got)
	}
	if !daemonstart.DaemonHoldsLock(w.dirs) {
		t.Error("the daemon ended with its starter")
	}
	if got := w.note("world"); got[0] != "/" || slices.ContainsFunc(got,
		func(s string) bool { return strings.HasPrefix(s, "HOOKMUX_D") }) {
		t.Errorf("the daemon's world: %q", got)
	}
}

func TestObservingStartsTheDaemonAndLeaves(t *testing.T) {
	w := newWorld(t)
	write(t, filepath.Join(w.dirs.Runtime, "behaviour"), "sleep")
	defer w.endDaemon()
	cmd := w.command(agent, observed)
	cmd.Stdin = strings.NewReader("payload")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
		t.Fatalf("out = %q, error %v; want no error and len(out) = 0", out, err)
	}
	if len(w.spooled()) != 1 {
		t.Errorf("w.spooled() = %+v, want 1 of them", w.spooled())
	}
	await.Until(t, "a daemon comes up", func() bool { return daemonstart.DaemonHoldsLock(w.dirs) })
}

func TestManyHooksStartOneDaemon(t *testing.T) {
	w := newWorld(t)
	write(t, filepath.Join(w.dirs.Runtime, "behaviour"), "sleep")
	defer w.endDaemon()
	program(t)
	var answered atomic.Int32
	var wg sync.WaitGroup
	for i := range 200 {
		event := deciding
		if i%4 == 0 {
			event = observed
		}
		wg.Go(func() {
			cmd := w.command(agent, event, "600")
			text := fmt.Sprint("payload ", i)
			cmd.Stdin = strings.NewReader(text)
			// On a machine too busy to bring a daemon up in three seconds the
			// neutral answer is right as well.
			out, err := cmd.CombinedOutput()
			if err != nil || len(out) > 0 && string(out) != text && string(out) != neutralOf(t, event).stdout {
				t.Errorf("%s %d: out = %q, error %v; want no error and not len(out) > 0 && string(out) != text && "+
					"string(out) != neutralOf(t, event).stdout", event, i, out, err)
			}
			if event == deciding && string(out) == text {
				answered.Add(1)
			}
		})
	}
	wg.Wait()
	if answered.Load() == 0 {
		t.Error("not one was answered")
	}
	if got := w.note("starts"); len(got) != 1 {
		t.Errorf("%d daemons were started", len(got))
	}
}

func TestDaemonThatDiesIsGivenUp(t *testing.T) {
	w := newWorld(t)
	write(t, filepath.Join(w.dirs.Runtime, "behaviour"), "die")
	for range 3 {
		cmd := w.command("--on-unavailable=deny", agent, deciding, "600")
		out, err := cmd.Output()
		if want := denyOf(t); err != nil && want.exit == 0 || string(out) != want.stdout {
			t.Errorf("out = %q, error %v; want not err != nil && want.exit == 0 and string(out) = %q",
				out, err, want.stdout)
		}
	}
	if got := w.note("starts"); len(got) < 3 {
		t.Errorf("%d starts, want at least those of the first call", len(got))
	}
	if len(w.spooled()) != 3 {
		t.Errorf("w.spooled() = %+v, want 3 of them", w.spooled())
	}
}

func TestStrippedEnvironmentReachesTheDaemon(t *testing.T) {
	w := newWorld(t)
	w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID, Stdout: r.Env}) })
	w.env = []string{"HOOKMUX_RUNTIME_DIR=" + w.dirs.Runtime} // all that a test may leave out is left out
	out, err := w.command(agent, deciding).Output()
	if err != nil || string(out) != w.env[0]+"\x00" {
		t.Errorf(`out = %q, error %v; want no error and string(out) = w.env[0] + "\x00"`, out, err)
	}
}

func TestTermination(t *testing.T) {
	if got := terminated(t, newWorld(t)); got != (result{}) {
		t.Errorf("without guards: %+v, want nothing", got)
	}
}

// An agent may end its hook while a daemon is being started, which takes a moment when
// hookmux was replaced. The event is left for that daemon.
func TestTerminationWhileADaemonStarts(t *testing.T) {
	w := newWorld(t)
	write(t, filepath.Join(w.dirs.Runtime, "behaviour"), "never")
	// Signals are watched for only in calls that last.
	for wait := 5 * fastPathBudget; len(w.spooled()) == 0; wait *= 4 {
		if wait > 5*time.Second {
			t.Fatal("nothing was left in the spool, want the event")
		}
		cmd := w.command(agent, deciding, "600")
		cmd.Stdin = strings.NewReader("payload")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await.Until(t, "it starts a daemon", func() bool { return w.note("starts")[0] != "" })
		time.Sleep(wait)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // by the signal itself where it came too early
	}
	if got := w.spooled(); len(got) != 1 || string(got[0].Payload) != "payload" {
		t.Errorf("spooled %+v, want the event once", got)
	}
}

// A signal is no way around: any program of the user can send one.
func TestTerminationOfAGuardedCall(t *testing.T) {
	if got := terminated(t, guardedWorld(t)); got != uncheckedOf(t, agent) {
		t.Errorf("with guards: %+v, want it to be put to a person, or refused", got)
	}
}

// terminated returns what a call says that is ended by a signal while it waits.
func terminated(t *testing.T, w *world) result {
	t.Helper()
	arrived := make(chan bool, 1)
	w.listen(func(conn net.Conn, _ frame.Request, _ int) {
		arrived <- true
		untilClosed(conn)
	})
	// Signals are watched for only in calls that last, and a busy machine may
	// take its time to get there.
	for wait := 5 * fastPathBudget; ; wait *= 4 {
		cmd := w.command(agent, deciding, "600")
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-arrived
		time.Sleep(wait)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code >= 0 {
			return result{out.String(), errs.String(), code}
		}
		if wait > 5*time.Second {
			t.Fatalf("error %v, want wait at most 5 * time.Second", err)
		}
	}
}

// The agent may be gone, or have closed its end, before we print.
func TestNobodyReadsTheAnswer(t *testing.T) {
	w := newWorld(t)
	w.listen(func(conn net.Conn, r frame.Request, _ int) {
		reply(conn, frame.Reply{ID: r.ID, Stdout: []byte("out"), Stderr: []byte("err"), Exit: 3})
	})
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	defer wr.Close()
	cmd := w.command(agent, deciding)
	cmd.Stdout, cmd.Stderr = wr, wr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("error %v, want cmd.ProcessState.ExitCode() = 3", err)
	}
}

// An agent that never closes our stdin still gets its answer in time.
func TestStdinThatNeverEnds(t *testing.T) {
	w := newWorld(t)
	cmd := w.command("--on-unavailable=deny", agent, deciding, "0.4")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if _, err := io.WriteString(stdin, "{"); err != nil {
		t.Fatal(err)
	}
	within(t, 20*time.Second, "stdin without an end", func() {
		if out, _ := cmd.Output(); string(out) != denyOf(t).stdout {
			t.Errorf("out = %q, want denyOf(t).stdout", out)
		}
	})
}

func TestTerminal(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	defer tty.Close()
	w := newWorld(t)
	cmd := w.command(agent, deciding)
	cmd.Stdin = tty
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != usageExit || !strings.Contains(string(out), "usage:") {
		t.Errorf(`cmd.ProcessState.ExitCode() = %d, out = %q; want cmd.ProcessState.ExitCode() = usageExit and `+
			`"usage:" in string(out)`, cmd.ProcessState.ExitCode(), out)
	}
}

func TestClosedStandardStreams(t *testing.T) {
	w := newWorld(t)
	w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID, Exit: 4}) })
	// The shell closes them; Go opens /dev/null in their place.
	cmd := exec.Command("/bin/sh", "-c", `exec "$0" "$@" <&- >&- 2>&-`, program(t), agent, deciding)
	cmd.Env = w.env
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("error %v, want cmd.ProcessState.ExitCode() = 4", err)
	}
}
