//go:build unix

// Package e2e runs the two real programs against each other, in throw-away
// homes: how the daemon comes up, dies, is followed by another, and what is left
// of an event then. It has tests only.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// patience is how long a test waits for what must come; no test measures it.
const patience = 90 * time.Second

// builds holds the programs, by version.
var builds string

const older, newer = "1.0.0", "2.0.0"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if builds, err = os.MkdirTemp("", "hookmux-e2e"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(builds)
	for _, version := range []string{older, newer} {
		dir := filepath.Join(builds, version)
		if err := os.Mkdir(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := programs.Build(dir, programs.Options{Version: version}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// world is a user with both programs installed.
type world struct {
	*sandbox.Home
	t *testing.T
	c *client.Client
}

func newWorld(t *testing.T) *world { return newWorldOf(t, sandbox.NewForTest(t, sandbox.Options{})) }

func newWorldOf(t *testing.T, home *sandbox.Home) *world {
	t.Helper()
	w := &world{t: t, Home: home, c: &client.Client{Socket: home.Dirs.Socket(), Timeout: patience}}
	w.install(older)
	t.Cleanup(func() {
		w.stop()
		if t.Failed() {
			log, _ := os.ReadFile(w.Dirs.Log())
			t.Logf("the daemon's log:\n%s", log)
		}
	})
	return w
}

// install puts both programs of a version in place.
func (w *world) install(version string) {
	w.t.Helper()
	if err := w.InstallPrograms(filepath.Join(builds, version)); err != nil {
		w.t.Fatal(err)
	}
}

// hook prepares a hook call with exactly this environment.
func (w *world) hook(env []string, agent, event, payload string) *exec.Cmd {
	cmd := w.HookCommand(context.Background(), agent, event, payload)
	cmd.Env = append([]string{}, env...) // nil would mean this process's own
	return cmd
}

// call runs a hook of claude to its end.
func (w *world) call(env []string, event, payload string) (sandbox.Answer, error) {
	return sandbox.RunToEnd(w.hook(env, "claude", event, payload))
}

// mustCall runs a hook of claude to its end.
func (w *world) mustCall(env []string, event, payload string) sandbox.Answer {
	w.t.Helper()
	a, err := w.call(env, event, payload)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func before(session, command string) string {
	return fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q}}`, session, command)
}

func note(session string) string {
	return fmt.Sprintf(`{"session_id":%q,"hook_event_name":"Notification","message":"m"}`, session)
}

// guard registers a hook for everybody that refuses deploys.
func (w *world) guard(more string) {
	w.t.Helper()
	w.write(w.Dirs.Config+"/hooks.json", `{"version":1,"hooks":[{"id":"no-deploys","agent":"*","hookType":"tool.before","handler":"command",`+
		`"target":"`+more+`echo no deploys today >&2; exit 2","match":{"command":"deploy"}}]}`)
}

func (w *world) write(path, text string) {
	w.t.Helper()
	w.MustWrite(w.t, path, text)
}

func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	await.Until(w.t, what, holds)
}

// up brings a daemon up as a person would, whatever died before, and gives its
// pid.
func (w *world) up() int {
	w.t.Helper()
	pid := 0
	w.eventually("a daemon answers", func() bool {
		info, err := w.c.Info(context.Background())
		if err == nil {
			pid = info.PID
			return true
		}
		_ = daemonstart.Forget(w.Dirs)
		if _, err := daemonstart.Start(w.Dirs, filepath.Join(w.Bin, "hookmux"),
			daemonstart.Options{Env: w.Env, Force: true}); err != nil {
			w.t.Fatal(err)
		}
		return false
	})
	return pid
}

func (w *world) info() *client.Info {
	w.t.Helper()
	info, err := w.c.Info(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return info
}

// stop ends whatever daemon there is, politely.
func (w *world) stop() {
	if err := daemontest.EndDaemon(w.Dirs); err != nil {
		w.t.Error(err)
	}
}

// settle waits until everything that was written down is in the journal, and
// stops the daemon.
func (w *world) settle() {
	w.t.Helper()
	w.up()
	w.eventually("all is stored", func() bool {
		left, _ := spool.Sweep(w.Dirs.Spool())
		return len(left) == 0 && w.info().Counts.Undrained == 0 && w.intakeBytes() == 0
	})
	w.stop()
}

func (w *world) intakeBytes() (sum int64) {
	files, _ := filepath.Glob(w.Dirs.Intake() + "/*")
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// stored counts ids and sessions in the journal of a stopped daemon.
func (w *world) stored() (ids, sessions map[string]int) {
	w.t.Helper()
	ids, sessions, err := daemontest.CountStored(context.Background(), w.Dirs)
	if err != nil {
		w.t.Fatal(err)
	}
	return ids, sessions
}

// started counts the daemons that came up.
func (w *world) started() int {
	log, _ := os.ReadFile(w.Dirs.Log())
	return strings.Count(string(log), `msg="daemon is up"`)
}

// ask speaks for a hook client and returns what it is answered: no error means
// acknowledged.
func (w *world) ask(r *frame.Request) (frame.Reply, error) {
	return sandbox.SendFrame(w.Dirs.Socket(), r, patience)
}

// send is ask for those who want no more than to be heard.
func (w *world) send(r *frame.Request) error {
	_, err := w.ask(r)
	return err
}
