package authority

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// noSleep keeps the race detector from holding each child for a second.
const noSleep = "GORACE=atexit_sleep_ms=0"

// TestHelperConnects plays an agent and what runs below it: each step starts
// the next, the last one connects and waits for its verdict.
func TestHelperConnects(t *testing.T) {
	socket := os.Getenv("AUTHORITY_TEST_SOCKET")
	if socket == "" {
		t.Skip("runs only as the child of another test")
	}
	if next := os.Getenv("AUTHORITY_TEST_NEXT"); next != "" {
		cmd := exec.Command("/bin/sh", "-c", next)
		cmd.Env = append(os.Environ(), "AUTHORITY_TEST_NEXT=")
		cmd.Run()
		os.Exit(0)
	}
	conn, err := net.Dial("unix", socket)
	if err == nil {
		io.Copy(io.Discard, conn)
	}
	os.Exit(0)
}

func procMustBeOurs(t *testing.T) {
	t.Helper()
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		t.Skip("/proc belongs to another pid namespace or is missing")
	}
}

// Real processes on this machine. It may have no terminal at all, so only
// refusals can be asked for; that people get through is the table's matter.
func TestRealAttempts(t *testing.T) {
	procMustBeOurs(t)
	dir, err := os.MkdirTemp("/tmp", "a") // short: socket paths are limited
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(dir, "acme")
	if err := os.Symlink(self, fake); err != nil {
		t.Fatal(err)
	}
	run := self + " -test.run=^TestHelperConnects$"
	for i, c := range []struct {
		attempt, command, agent string
	}{
		{"plain", run + "; :", "acme"},
		{"nohup", "nohup " + run + " >/dev/null 2>&1; :", "acme"},
		{"env -i", "env -i " + noSleep + " AUTHORITY_TEST_SOCKET=$AUTHORITY_TEST_SOCKET " + run + "; :", "acme"},
		{"setsid", "setsid -w " + run + "; :", "acme"},
		{"double fork", "(exec >/dev/null 2>&1; setsid " + run + " &) & :", ""},
		{"double fork, markers kept", "(exec >/dev/null 2>&1; ACMECODE=1 setsid " + run + " &) & :", "acme"},
	} {
		t.Run(c.attempt, func(t *testing.T) {
			for _, tool := range []string{"nohup", "env", "setsid"} {
				if _, err := exec.LookPath(tool); err != nil && strings.Contains(c.command, tool) {
					t.Skip(err)
				}
			}
			listener, err := net.Listen("unix", filepath.Join(dir, strconv.Itoa(i)))
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			cmd := exec.Command(fake, "-test.run=^TestHelperConnects$")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), noSleep, "AUTHORITY_TEST_SOCKET=" + listener.Addr().String(), "AUTHORITY_TEST_NEXT=" + c.command}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			listener.(*net.UnixListener).SetDeadline(time.Now().Add(30 * time.Second))
			conn, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if c.agent == "" {
				cmd.Wait() // only now is the orphan one
			}
			cred, err := proc.Peer(conn.(*net.UnixConn))
			if err != nil {
				t.Fatal(err)
			}
			if p, err := proc.System().Lookup(cred.PID); c.agent == "" && err == nil && p.PPID != 1 {
				t.Skip("orphans are not adopted by pid 1 here")
			}
			j := &Judge{Table: proc.System(), Agents: marks, UID: os.Geteuid()}
			v := j.May(Decide, cred, nil)
			if v.OK || !strings.HasPrefix(v.Reason, "refused: ") || v.Agent != c.agent {
				t.Errorf("got %+v", v)
			}
			if c.agent == "acme" && !strings.Contains(c.attempt, "fork") {
				if got := j.Caller(cred.PID, "acme"); got.Agent != "acme" || got.PID != cmd.Process.Pid {
					t.Errorf("caller %+v, want process %d", got, cmd.Process.Pid)
				}
			}
			conn.Close()
			cmd.Wait()
		})
	}
}

// A real multiplexer: what runs in its pane is a person's, what it runs in
// the background is not.
func TestRealTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip(err)
	}
	procMustBeOurs(t)
	dir, err := os.MkdirTemp("/tmp", "a")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	do := func(args ...string) error {
		cmd := exec.Command(tmux, append([]string{"-f", "/dev/null", "-S", filepath.Join(dir, "t")}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm", "SHELL=/bin/sh"}
		return cmd.Run()
	}
	run := noSleep + " AUTHORITY_TEST_SOCKET=" + listener.Addr().String() + " " + self + " -test.run='^TestHelperConnects$'; :"
	verdict := func() Verdict {
		t.Helper()
		listener.(*net.UnixListener).SetDeadline(time.Now().Add(10 * time.Second))
		conn, err := listener.Accept()
		if err != nil {
			t.Skip("tmux does not run commands here: ", err)
		}
		defer conn.Close()
		cred, err := proc.Peer(conn.(*net.UnixConn))
		if err != nil {
			t.Fatal(err)
		}
		return (&Judge{Table: proc.System(), Agents: marks, UID: os.Geteuid()}).May(Decide, cred, nil)
	}

	if err := do("new-session", "-d", "sleep 60"); err != nil {
		t.Skip("tmux does not start here: ", err)
	}
	defer do("kill-server")
	if err := do("run-shell", "-b", run); err != nil {
		t.Fatal(err)
	}
	v := verdict()
	if v.OK {
		t.Errorf("run-shell: %+v", v)
	}
	if len(v.Chain) > 0 && !strings.Contains(v.Reason, "in the background") && !strings.Contains(v.Reason, "runs from") {
		t.Errorf("run-shell: %s", v.Reason)
	}
	if err := do("new-window", "-d", run); err != nil {
		t.Fatal(err)
	}
	if v := verdict(); !v.OK && !strings.Contains(v.Reason, "runs from") {
		t.Errorf("pane: %s", v.Reason)
	}
}

func TestSound(t *testing.T) {
	procMustBeOurs(t)
	self := proc.Process{PID: os.Getpid()}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	if !runsFile(self.PID, program) {
		t.Errorf("this test does not run %s", program)
	}
	if runsFile(self.PID, "/bin/sh") || Sound(user, self, "/usr/bin/tmux") {
		t.Error("this test passes for another program")
	}
	for _, path := range []string{"", "tmux", "/usr/../tmp/tmux", "/home/u/tmux", filepath.Join(t.TempDir(), "tmux")} {
		if Sound(0, self, path) {
			t.Errorf("%q is sound", path)
		}
	}
	open := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(open, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if onlyRootWrites(open) {
		t.Error("a file everybody may write passes as root's")
	}
}
