//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func TestAHookStartsTheDaemonAndIsAnswered(t *testing.T) {
	w := newWorld(t)
	w.guard("")
	got := w.mustCall(w.Env, "PreToolUse", before("s", "make deploy"))
	if !got.Denies() || !strings.Contains(got.Stdout, "no deploys today") || got.Exit != 0 {
		t.Errorf(`got %+v, want got.Denies(), "no deploys today" in got.Stdout and got.Exit = 0`, got)
	}
	if got := w.mustCall(w.Env, "PreToolUse", before("s", "make test")); got != (sandbox.Answer{}) {
		t.Errorf("got %+v, want (sandbox.Answer{})", got)
	}
	if n := w.started(); n != 1 {
		t.Errorf("%d daemons came up", n)
	}
}

// An agent that empties its hooks' environment still meets the daemon of the
// login shell, and a daemon that such a hook starts finds the same places.
func TestAHookWithoutAnEnvironment(t *testing.T) {
	check := func(t *testing.T, w *world, bare []string) {
		w.guard("")
		// A daemon that a person started notes its places; no person runs tests.
		if err := errors.Join(w.Dirs.MakeRuntime(), os.MkdirAll(w.Dirs.State, 0o700), w.Dirs.Remember()); err != nil {
			t.Fatal(err)
		}
		w.mustCall(w.Env, "Notification", note("login-shell"))
		w.up()
		if got := w.mustCall(bare, "PreToolUse", before("bare", "make deploy")); !got.Denies() {
			t.Errorf("without an environment: %+v", got)
		}
		if n := w.started(); n != 1 {
			t.Errorf("%d daemons came up", n)
		}
		w.stop()
		if got := w.mustCall(bare, "PreToolUse", before("bare-starts", "make deploy")); !got.Denies() {
			t.Errorf("the daemon it started decides otherwise: %+v", got)
		}
		w.settle()
		_, sessions := w.stored()
		for _, s := range []string{"login-shell", "bare", "bare-starts"} {
			if sessions[s] != 1 {
				t.Errorf("%s is stored %d times", s, sessions[s])
			}
		}
	}
	t.Run("runtime dir", func(t *testing.T) {
		w := newWorld(t)
		check(t, w, []string{"HOME=" + w.Base + "/home", "HOOKMUX_RUNTIME_DIR=" + w.Dirs.Runtime})
	})
	t.Run("home", func(t *testing.T) {
		if _, err := os.Stat(fmt.Sprintf("/run/user/%d", os.Getuid())); err == nil {
			t.Skip("this user has a runtime dir that a test must not use")
		}
		w := newWorldOf(t, sandbox.NewForTest(t, sandbox.Options{Env: []string{paths.RuntimeVariable + "=", "TERM=xterm"}}))
		check(t, w, []string{"HOME=" + w.Dirs.Home})
	})
}

func TestTwoHundredHooksStartOneDaemon(t *testing.T) {
	w := newWorld(t)
	w.guard("")
	const hooks = 200
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range hooks {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-begin
			event, payload := "PreToolUse", before(fmt.Sprint("s", i), "make test")
			if i%4 == 0 {
				event, payload = "Notification", note(fmt.Sprint("s", i))
			}
			if got, err := w.call(w.Env, event, payload); err != nil || got != (sandbox.Answer{}) {
				t.Errorf("%d: w.call(w.Env, event, payload) = %+v, error %v; want no error and (sandbox.Answer{})", i, got, err)
			}
		}()
	}
	close(begin)
	wg.Wait()
	if n := w.started(); n != 1 {
		t.Errorf("%d daemons came up", n)
	}
	w.settle()
	_, sessions := w.stored()
	for i := range hooks {
		if n := sessions[fmt.Sprint("s", i)]; n != 1 {
			t.Errorf("event %d is stored %d times", i, n)
		}
	}
}

func TestADaemonThatKeepsDyingIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	tally := w.Base + "/tally"
	broken := filepath.Join(w.Bin, "hookmux")
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	w.write(broken, "#!/bin/sh\necho started >> "+tally+"\nexit 1\n")
	if err := os.Chmod(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	starts := func() int {
		text, _ := os.ReadFile(tally)
		return strings.Count(string(text), "started")
	}
	call := func(i int) {
		t.Helper()
		if got := w.mustCall(w.Env, "PreToolUse",
			before(fmt.Sprint("s", i), "make test")); got != (sandbox.Answer{}) {
			t.Errorf("answered %+v, want nothing", got)
		}
	}
	for i := range 4 {
		call(i)
	}
	// How long the next start waits after each death is daemonstart's own test;
	// a pause of a minute shows here that it does.
	if err := daemonstart.Pause(w.Dirs); err != nil {
		t.Fatal(err)
	}
	earlier := starts()
	if earlier < 3 {
		t.Errorf("it was started %d times, want 3 at least", earlier)
	}
	call(4)
	if n := starts(); n != earlier {
		t.Errorf("it was started %d times while starts are paused, want none", n-earlier)
	}
	// Nothing is lost meanwhile, and a person ends the pause.
	if left, err := spool.Sweep(w.Dirs.Spool()); err != nil || len(left) != 5 {
		t.Errorf("%d events wait: %v; want no error and len(left) == 5", len(left), err)
	}
	w.install(older)
	w.settle()
	_, sessions := w.stored()
	for i := range 5 {
		if sessions[fmt.Sprint("s", i)] != 1 {
			t.Errorf("event %d is stored %d times", i, sessions[fmt.Sprint("s", i)])
		}
	}
}

// While the daemon stops and another one starts, a guarded call is never waved
// through.
func TestGuardsStayShutWhileTheDaemonStops(t *testing.T) {
	w := newWorld(t)
	w.guard("sleep 0.05; ")
	w.up()
	var over atomic.Bool
	var asked, open atomic.Int64
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; !over.Load(); i++ {
				got, err := w.call(w.Env, "PreToolUse", before(fmt.Sprintf("s-%d-%d", n, i), "make deploy"))
				asked.Add(1)
				// A client that finds no daemon in time has a person asked: only the daemon
				// can run this hook.
				if asks := strings.Contains(got.Stdout, `"permissionDecision":"ask"`); err != nil || !got.Denies() && !asks {
					open.Add(1)
					t.Errorf("answered %+v, %v; want a refusal or a question", got, err)
				}
			}
		}()
	}
	for range 5 {
		pid := w.up()
		seen := asked.Load()
		w.eventually("hooks are asking", func() bool { return asked.Load() > seen })
		_ = syscall.Kill(pid, syscall.SIGTERM)
		w.eventually("it has stopped", func() bool {
			info, err := w.c.Info(t.Context())
			return err != nil || info.PID != pid
		})
	}
	over.Store(true)
	wg.Wait()
	t.Logf("%d calls, %d waved through", asked.Load(), open.Load())
}

func TestSIGTERMStoresWhatWasAcknowledged(t *testing.T) {
	w := newWorld(t)
	pid := w.up()
	const events = 300
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := n; i < events; i += 4 {
				r := frame.Request{ID: fmt.Sprint("e", i), Agent: "claude", Event: "Notification",
					Payload: []byte(note("s"))}
				if err := w.send(&r); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.eventually("it has ended", func() bool { return !daemonstart.DaemonHoldsLock(w.Dirs) })
	ids, _ := w.stored()
	for i := range events {
		if n := ids[fmt.Sprint("e", i)]; n != 1 {
			t.Errorf("event %d is stored %d times", i, n)
		}
	}
	if n := w.intakeBytes(); n != 0 {
		t.Errorf("%d bytes are left in the intake", n)
	}
	if _, err := os.Stat(w.Dirs.Socket()); err == nil {
		t.Error("the socket is still there")
	}
	if _, err := os.Stat(w.Dirs.AliveFile()); err == nil {
		t.Error("a clean stop looks like a death")
	}
}

func TestANewerClientMakesTheOlderDaemonLeave(t *testing.T) {
	w := newWorld(t)
	w.mustCall(w.Env, "Notification", note("first"))
	w.up()
	if v := w.info().Version; v != older {
		t.Fatalf("the daemon is %s", v)
	}
	// A newer client alone moves nothing: the daemon would come back as it was.
	pid := w.info().PID
	r := frame.Request{ID: "impostor", Agent: "claude", Event: "Notification", Version: newer,
		Payload: []byte(note("s"))}
	if err := w.send(&r); err != nil {
		t.Fatal(err)
	}
	if now := w.info().PID; now != pid {
		t.Errorf("a frame of a newer client made daemon %d give way to daemon %d", pid, now)
	}
	w.stop()
	w.install(newer)
	w.install(older)
	w.up()
	pid = w.info().PID
	w.install(newer)
	w.eventually("the newer daemon runs", func() bool {
		w.mustCall(w.Env, "PreToolUse", before("s", "make test"))
		info, err := w.c.Info(t.Context())
		return err == nil && info.Version == newer
	})
	if w.info().PID == pid {
		t.Error("it is the same process")
	}
	// Never the reverse.
	pid = w.info().PID
	w.install(older)
	for range 5 {
		w.mustCall(w.Env, "PreToolUse", before("s", "make test"))
	}
	time.Sleep(200 * time.Millisecond)
	if info := w.info(); info.PID != pid || info.Version != newer {
		t.Errorf("an older client made it %s, pid %d", info.Version, info.PID)
	}
}

// Codex waits for everybody who holds its pipes, not only for the hook.
func TestTheDaemonHoldsNoPipeOfItsStarter(t *testing.T) {
	w := newWorld(t)
	extra, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	cmd := w.hook(w.Env, "claude", "PreToolUse", before("s", "make test"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr // Wait waits until both are closed
	cmd.ExtraFiles = []*os.File{held}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Fatal("somebody holds the hook's pipes")
	}
	_ = extra.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(extra); err != nil {
		t.Errorf("somebody holds another pipe of the agent: %v", err)
	}
	if pid := w.info().PID; pid == cmd.Process.Pid {
		t.Error("the hook is the daemon")
	}
	// An agent that ends its process group does not end the daemon.
	if sid, err := getsid(w.info().PID); err == nil && sid != w.info().PID {
		t.Errorf("the daemon is in session %d", sid)
	}
}

// A hook whose command is a hook call ends, also when it is locked and hides
// where it comes from.
func TestHooksThatCallHooksEnd(t *testing.T) {
	for name, more := range map[string]string{"plain": "", "locked": `,"locked":true`} {
		for _, hides := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, hides %v", name, hides), func(t *testing.T) {
				w := newWorld(t)
				w.write(w.Base+"/payload.json", before("nested", "again"))
				env := ""
				if hides {
					env = "env -i HOME=" + w.Base + "/home HOOKMUX_RUNTIME_DIR=" + w.Dirs.Runtime + " "
				}
				w.write(w.Dirs.Config+"/hooks.json",
					`{"version":1,"hooks":[{"id":"again","agent":"*","hookType":"tool.before","handler":"command","timeout":"20s",`+
						`"target":"`+env+w.Bin+`/hookmux-hook claude PreToolUse 60 < `+w.Base+
						`/payload.json > /dev/null"`+
						more+`}]}`)
				if got := w.mustCall(w.Env, "PreToolUse", before("outside", "x")); got.Exit != 0 {
					t.Errorf("got %+v, want got.Exit = 0", got)
				}
				w.settle()
				_, sessions := w.stored()
				if n := sessions["nested"]; n < 1 || n > 40 {
					t.Errorf("%d calls from below", n)
				}
			})
		}
	}
}
