//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// belowVariable makes a command look like an agent's child to the daemon of the
// tests: HOOKMUX_TEST_BELOW=claude.
const belowVariable = "HOOKMUX_TEST_BELOW"

// acceptFile in a test's home lets its daemon want changes of files accepted, as
// the real one does. Scripts about other things write settings as they need
// them.
const acceptFile = "wants-accept"

func wantsAccept() bool {
	_, err := os.Stat(filepath.Join(os.Getenv("HOME"), acceptFile))
	return err == nil
}

// TestMain makes the test binary the program itself when it is called by its
// name, also for the daemon that commands and hooks start. It differs from the
// real one only in who the daemon believes its callers to be.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hookmux": func() {
			if _, err := os.Stat(os.Getenv("HOME")); err != nil && slices.Equal(os.Args[1:], []string{"daemon"}) {
				os.Exit(1) // the test it was started for is over: it would live on for nobody
			}
			if slices.Equal(os.Args[1:], []string{"hub", "--stand-in"}) {
				os.Exit(actAsEarlierDaemon())
			}
			os.Exit(runCommandLine(&cmdutil.App{
				Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
				Table: newPeople(), Facts: authoritytest.Machine{Table: newPeople()}, Asker: &authoritytest.Agrees{},
				LiveSettings: !wantsAccept(),
			}))
		},
		"daemonline": sendLine,
	})
}

// actAsEarlierDaemon holds the lock that daemons had before the first release until it's stopped, or says that another
// one holds it.
func actAsEarlierDaemon() int {
	runtime := os.Getenv("HOOKMUX_RUNTIME_DIR")
	lock, err := os.OpenFile(filepath.Join(runtime, "hub.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		defer func() { _ = lock.Close() }()
		err = files.TryLock(lock)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(runtime, "hub.alive"), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
	fmt.Println("stopped")
	return 0
}

// sendLine is a small client of the daemon's socket, as other programs bring one: it
// sends what it is given on stdin as one line, and prints the line that comes back.
// With --tell it waits for none.
func sendLine() {
	conn, err := net.Dial("unix", filepath.Join(os.Getenv("HOOKMUX_RUNTIME_DIR"), "daemon.sock"))
	if err == nil {
		var line []byte
		if line, err = io.ReadAll(os.Stdin); err == nil {
			_, err = conn.Write(append(bytes.TrimSpace(line), '\n'))
		}
	}
	if err == nil && !slices.Contains(os.Args, "--tell") {
		var answer string
		answer, err = bufio.NewReader(conn).ReadString('\n')
		fmt.Print(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// people is a table in which everybody sits at a terminal of their own: tests
// run below agents, in CI and without a tty, where deciding is rightly
// refused. Two things stay true, because tests are about them: what runs below
// the daemon is a handler, and what says so is an agent's child.
type people struct {
	real   proc.Table
	daemon int
	agents proc.Table
}

// agentPIDs are the agents that are said to be above a command; far beyond
// what a kernel gives out.
var agentPIDs = map[string]int{"claude": 1<<29 + 1, "codex": 1<<29 + 2, "grok": 1<<29 + 3}

const terminal = "/dev/pts/7"

func newPeople() people {
	var agents []proctest.Node
	for name, pid := range agentPIDs {
		agents = append(agents, proctest.Node{PID: pid, Name: name, User: os.Getuid(), TTY: terminal, Session: true,
			Start: 1, Args: []string{name, "--model", "M", "old prompt"}})
	}
	return people{real: proc.System(), daemon: os.Getpid(), agents: proctest.New(agents...)}
}

func (t people) Lookup(pid int) (proc.Process, error) {
	if p, err := t.agents.Lookup(pid); err == nil {
		return p, nil
	}
	p, err := t.real.Lookup(pid)
	if err != nil || t.belowDaemon(pid) {
		return p, err
	}
	p.PPID, p.SID, p.PGID, p.Foreground, p.TTY = 0, pid, pid, pid, terminal
	env, _ := t.real.Environ(pid)
	for _, one := range env {
		if name, ok := strings.CutPrefix(one, belowVariable+"="); ok {
			p.PPID, p.SID = agentPIDs[name], agentPIDs[name]
		}
	}
	return p, nil
}

func (t people) belowDaemon(pid int) bool {
	for i, p := range proc.Ancestry(t.real, pid, 64) {
		if i > 0 && p.PID == t.daemon {
			return true
		}
	}
	return false
}

func (t people) Program(pid int) (string, error) {
	if _, err := t.agents.Lookup(pid); err == nil {
		return t.agents.Program(pid)
	}
	if t.belowDaemon(pid) {
		return t.real.Program(pid)
	}
	return "/usr/bin/hookmux", nil
}

func (t people) Args(pid int) ([]string, error) {
	if _, err := t.agents.Lookup(pid); err == nil {
		return t.agents.Args(pid)
	}
	return t.real.Args(pid)
}

func (t people) Environ(pid int) ([]string, error) {
	if t.belowDaemon(pid) {
		return t.real.Environ(pid)
	}
	return nil, nil
}
