//go:build unix

// Package e2e runs the two real programs against each other, in throw-away
// homes: how the hub comes up, dies, is followed by another, and what is left
// of an event then. It has tests only.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/hubtest"
	"github.com/hookmux/hookmux/internal/hubtest/await"
	"github.com/hookmux/hookmux/internal/hubtest/programs"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/journal"
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
	t    *testing.T
	base string
	bin  string
	env  []string // of the login shell
	dirs paths.Dirs
	c    *client.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := os.MkdirTemp("", "he") // short: socket paths have little room
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	return newWorldIn(t, base, []string{
		"HOME=" + base + "/home", "XDG_STATE_HOME=" + base + "/state", "XDG_CONFIG_HOME=" + base + "/config",
		"XDG_DATA_HOME=" + base + "/data", "HOOKMUX_RUNTIME_DIR=" + base + "/run", "PATH=/usr/local/bin:/usr/bin:/bin",
	})
}

func newWorldIn(t *testing.T, base string, env []string) *world {
	t.Helper()
	w := &world{t: t, base: base, bin: base + "/bin", env: env}
	var err error
	if w.dirs, err = paths.Find(paths.GetenvFrom(env)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.bin, base + "/home", base + "/work"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.install(older)
	w.c = &client.Client{Socket: w.dirs.Socket(), Timeout: patience}
	t.Cleanup(func() {
		w.stop()
		if t.Failed() {
			log, _ := os.ReadFile(w.dirs.Log())
			t.Logf("the hub's log:\n%s", log)
		}
	})
	return w
}

// install puts both programs of a version in place, as an upgrade does: under
// the same names, by renaming.
func (w *world) install(version string) {
	w.t.Helper()
	for _, name := range []string{"hookmux", "hookmux-hook"} {
		to := filepath.Join(w.bin, name)
		_ = os.Remove(to + ".new")
		if err := os.Link(filepath.Join(builds, version, name), to+".new"); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Rename(to+".new", to); err != nil {
			w.t.Fatal(err)
		}
		// Renaming a link onto another name of the same file does nothing.
		_ = os.Remove(to + ".new")
	}
}

// hook prepares a hook call with exactly this environment.
func (w *world) hook(env []string, agent, event, payload string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(w.bin, "hookmux-hook"), agent, event, "60")
	cmd.Env, cmd.Dir = env, w.base+"/work"
	if env == nil {
		cmd.Env = []string{} // nil would mean this process's own
	}
	cmd.Stdin = strings.NewReader(payload)
	return cmd
}

type answer struct {
	stdout, stderr string
	exit           int
}

func (a answer) denies() bool { return strings.Contains(a.stdout, `"deny"`) }

// call runs a hook of claude to its end.
func (w *world) call(env []string, event, payload string) (answer, error) {
	cmd := w.hook(env, "claude", event, payload)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		err = nil
	}
	return answer{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, err
}

// mustCall runs a hook of claude to its end.
func (w *world) mustCall(env []string, event, payload string) answer {
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
	w.write(w.dirs.Config+"/hooks.json", `{"version":1,"hooks":[{"id":"no-deploys","agent":"*","hookType":"tool.before","handler":"command",`+
		`"target":"`+more+`echo no deploys today >&2; exit 2","match":{"command":"deploy"}}]}`)
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	await.Until(w.t, what, holds)
}

// up brings a hub up as a person would, whatever died before, and gives its
// pid.
func (w *world) up() int {
	w.t.Helper()
	pid := 0
	w.eventually("a hub answers", func() bool {
		info, err := w.c.Info(context.Background())
		if err == nil {
			pid = info.PID
			return true
		}
		_ = hubstart.Forget(w.dirs)
		if _, err := hubstart.Start(w.dirs, filepath.Join(w.bin, "hookmux"),
			hubstart.Options{Env: w.env, Force: true}); err != nil {
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

// stop ends whatever hub there is, politely.
func (w *world) stop() {
	if err := hubtest.EndHub(w.dirs); err != nil {
		w.t.Error(err)
	}
}

// settle waits until everything that was written down is in the journal, and
// stops the hub.
func (w *world) settle() {
	w.t.Helper()
	w.up()
	w.eventually("all is stored", func() bool {
		left, _ := spool.Sweep(w.dirs.Spool())
		return len(left) == 0 && w.info().Counts.Undrained == 0 && w.intakeBytes() == 0
	})
	w.stop()
}

func (w *world) intakeBytes() (sum int64) {
	files, _ := filepath.Glob(w.dirs.Intake() + "/*")
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// stored counts ids and sessions in the journal of a stopped hub.
func (w *world) stored() (ids, sessions map[string]int) {
	w.t.Helper()
	j, err := journal.Open(filepath.Join(w.dirs.State, "journal.db"), journal.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer j.Close()
	ids, sessions = map[string]int{}, map[string]int{}
	for s, err := range j.Query(context.Background(), journal.Filter{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		ids[s.ID]++
		sessions[s.Session]++
	}
	return ids, sessions
}

// started counts the hubs that came up.
func (w *world) started() int {
	log, _ := os.ReadFile(w.dirs.Log())
	return strings.Count(string(log), `msg="hub is up"`)
}

// send speaks for a hook client: no error means acknowledged.
func (w *world) send(r *frame.Request) error {
	reply, err := w.ask(r)
	if err == nil && reply.ID != r.ID {
		return fmt.Errorf("the reply is to %q, want to %q", reply.ID, r.ID)
	}
	return err
}

// ask speaks for a hook client and returns what it is answered.
func (w *world) ask(r *frame.Request) (frame.Reply, error) {
	conn, err := net.Dial("unix", w.dirs.Socket())
	if err != nil {
		return frame.Reply{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(frame.AppendRequest(nil, r)); err != nil {
		return frame.Reply{}, err
	}
	return frame.ReadReply(bufio.NewReader(conn), frame.Standard)
}
