package terminal

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminaltest"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

var realMarks = authority.AgentMarks{{Agent: "acme", Programs: []string{"acme"}, Env: []string{"ACMECODE"}}}

// answer is the helper daemon's report to a caller about itself.
type answer struct {
	Outcome, Cause, Reason, Agent string
	Terminal                      string
}

const (
	daemonVariable = "TERMINAL_TEST_DAEMON"
	probeVariable  = "TERMINAL_TEST_PROBE"
)

// TestHelperDaemon plays the daemon: it evaluates whoever connects.
func TestHelperDaemon(t *testing.T) {
	socket := os.Getenv(daemonVariable)
	if socket == "" {
		t.Skip("runs only as the child of another test")
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	table := proc.System()
	source := NewSource(table, os.Getuid())
	evaluator := &authority.Evaluator{Rules: authority.Rules{Agents: realMarks, UID: os.Getuid(), DaemonPID: os.Getpid()},
		Table: table, Source: source}
	keeper := &Keeper{Evaluator: evaluator, Asker: NewAsker(source)}
	marker := NewMarker(table)
	marker.NoteTerminals(source)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			peer, err := proc.Peer(conn.(*net.UnixConn))
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			var v authority.Verdict
			switch word := strings.TrimSpace(line); word {
			case "ask":
				v = keeper.Decide(context.Background(), peer, authority.Action{Weakens: true,
					Text: "switch \x1b[2Jeverything off"})
			case "hook": // the caller's parent is an agent that calls its first hook
				if p, err := table.Lookup(peer.PID); err == nil {
					if parent, err := table.Lookup(p.PPID); err == nil {
						marker.Mark("acme", parent.PID, parent.Start)
					}
				}
			case "watch":
				keeper.WatchKeys(peer, false)
			case "again":
				keeper.WatchKeys(peer, true)
			default:
				v = keeper.EvaluateSilently(peer, authority.Action{})
			}
			out, _ := json.Marshal(answer{v.Outcome.String(), v.Cause.String(), v.Reason(), v.Agent,
				v.Terminal.Kind.String()})
			_, _ = conn.Write(append(out, '\n'))
		}()
	}
}

// oneShotForTests is longer than a command takes that answers right away.
const oneShotForTests = 11 * time.Second

// TestHelperProbe plays a command that asks the daemon, and writes down what it
// says about it.
func TestHelperProbe(t *testing.T) {
	file := os.Getenv(probeVariable)
	if file == "" {
		t.Skip("runs only as the child of another test")
	}
	proc.NoteFirstProgram()
	ask := func(word string) []byte {
		conn, err := net.Dial("unix", filepath.Dir(file)+"/daemon")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintln(conn, word)
		line, err := bufio.NewReader(conn).ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	word := os.Getenv("TERMINAL_TEST_WORD")
	if word == "view" { // waits for a key, and answers then
		time.Sleep(oneShotForTests) // a view runs for longer than a command
		ask("watch")
		if err := os.WriteFile(file+".waits", nil, 0o666); err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		go func() {
			for tick := time.NewTicker(time.Second); ; {
				select {
				case <-tick.C:
					ask("again")
				case <-stop:
					return
				}
			}
		}()
		_, _ = os.Stdin.Read(make([]byte, 64))
		close(stop)
		word = "look"
	}
	line := ask(word)
	if err := os.WriteFile(file+".new", line, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// testBed is a machine with a helper daemon.
type testBed struct {
	t   *testing.T
	dir string
	n   int
	// stop ends the helper daemon.
	stop func()
}

func newTestBed(t *testing.T) *testBed {
	t.Helper()
	s := &testBed{t: t, dir: terminaltest.Base() + "/s"}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	s.restart()
	t.Cleanup(func() { s.stop() })
	return s
}

// restart begins with a daemon that remembers nothing.
func (s *testBed) restart() {
	s.t.Helper()
	if s.stop != nil {
		s.stop()
		_ = os.Remove(s.dir + "/daemon") // its socket
	}
	daemon := exec.Command(terminaltest.Base()+"/test", "-test.run=^TestHelperDaemon$")
	daemon.Env = []string{daemonVariable + "=" + s.dir + "/daemon", "PATH=/usr/bin:/bin"}
	daemon.Dir = "/"
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: terminaltest.UserID,
		Gid: terminaltest.UserID}}
	if err := daemon.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.stop = func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }
	terminaltest.Eventually(s.t, "the daemon listens", func() bool { _, err := os.Stat(s.dir + "/daemon"); return err == nil })
}

// probe returns a command line that asks the daemon, and the file its answer goes to.
func (s *testBed) probe(word string) (command, file string) {
	s.n++
	file = fmt.Sprintf("%s/answer%d", s.dir, s.n)
	return fmt.Sprintf("TERMINAL_TEST_WORD=%s %s=%s GORACE=atexit_sleep_ms=0 %s/test -test.run='^TestHelperProbe$' "+
		">/dev/null 2>&1",
		word, probeVariable, file, terminaltest.Base()), file
}

func (s *testBed) answer(file string) answer {
	s.t.Helper()
	var a answer
	terminaltest.Eventually(s.t, "the daemon answers into "+file, func() bool {
		b, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(b, &a) == nil
	})
	return a
}

// want runs a command line at a terminal and compares what the daemon says. On a
// busy machine a command may begin so long after its line was typed that the
// daemon would rather ask for a code: then it is typed again.
func (s *testBed) want(at *terminaltest.Terminal, name, line, file string, outcome authority.Outcome,
	cause authority.Cause) answer {
	s.t.Helper()
	at.Run(line)
	a := s.answer(file)
	for range 20 {
		if outcome != authority.Allowed || a.Cause != authority.NotTyped.String() {
			break
		}
		_ = os.Remove(file) // it is there
		at.Run(line)
		a = s.answer(file)
	}
	if a.Outcome != outcome.String() || a.Cause != cause.String() {
		s.t.Errorf("%s: got %s because of %s, want %s because of %s: %s", name, a.Outcome, a.Cause, outcome, cause,
			a.Reason)
	}
	return a
}

// A person over ssh, and what programs of theirs may try beside
// them, on real processes and terminals.
func TestRealTerminal(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	person := terminaltest.Login(t)
	line, file := s.probe("look")
	if a := s.want(person, "ssh, typed", line, file, authority.Allowed,
		authority.NoCause); a.Terminal != authority.Remote.String() {
		t.Errorf("the terminal is a %s", a.Terminal)
	}
	line, file = s.probe("look")
	s.want(person, "a shell script", "sh -c '"+strings.ReplaceAll(line, "'", `'\''`)+"; :'", file,
		authority.NeedCode, authority.Between)
	line, file = s.probe("look")
	s.want(person, "setsid", "setsid -w env "+line, file, authority.Refused, authority.NoTerminal)
	line, file = s.probe("look")
	s.want(person, "in the background", "sh -c '"+strings.ReplaceAll(line, "'", `'\''`)+"; :' & wait", file,
		authority.Refused, authority.Background)
	line, file = s.probe("look")
	s.want(person, "an agent's variables", "ACMECODE=1 "+line, file, authority.Refused, authority.Variable)
	line, file = s.probe("look")
	s.want(person, "script", "script -qc '"+strings.ReplaceAll(line, "'", `'\''`)+"' /dev/null", file,
		authority.NeedCode, authority.Between)
	line, file = s.probe("ask")
	person.Run("script -qc '" + strings.ReplaceAll(line, "'", `'\''`) + "' /dev/null")
	if a := s.answer(file); a.Outcome != "refused" || !strings.Contains(a.Reason, "script writes down what is shown") {
		t.Errorf("a code below script: got %+v, want it refused because script writes it down", a)
	}

	// An agent nobody knows: its first hook marks it, and the mark stays with
	// what it starts, also in a terminal of its own and without variables.
	hook, hooked := s.probe("hook")
	plain, said := s.probe("look")
	escaped, hidden := s.probe("look")
	script := s.dir + "/frobnicate"
	text := fmt.Sprintf("import subprocess\nsubprocess.run(%q, shell=True)\nsubprocess.run(%q, shell=True)\n"+
		"subprocess.Popen(['env', '-i', 'PATH=/usr/bin:/bin', 'setsid', '-f', 'script', '-qc', %q, '/dev/null'], "+
		"stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)\n", "exec env "+hook, plain, escaped)
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("python3"); err == nil {
		person.Run("python3 " + script)
		s.answer(hooked)
		for name, file := range map[string]string{"below a marked agent": said, "escaped from a marked agent": hidden} {
			if a := s.answer(file); a.Outcome != "refused" || a.Cause != "marked" || a.Agent != "acme" {
				t.Errorf(`%s: a = %+v, want a.Outcome = "refused", a.Cause = "marked" and a.Agent = "acme"`, name, a)
			}
		}
	}
	person = terminaltest.Login(t) // an agent may have typed ahead at the other one
	line, file = s.probe("look")
	s.want(person, "the user after all that", line, file, authority.Allowed, authority.NoCause)

	// ssh to this machine by the user's own client, without a trusted terminal.
	own := terminaltest.LoginAs(t, terminaltest.UserID)
	line, file = s.probe("look")
	s.want(own, "the user's own ssh client", line, file, authority.Refused, authority.LocalLogin)
}

// What takes protection away is asked for, at the terminal.
func TestRealCode(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	person := terminaltest.Login(t)
	readCode := func(from int) string {
		t.Helper()
		shown := person.Await(from, "to confirm")
		_, rest, _ := strings.Cut(shown, "Type ")
		return rest[:codeLength]
	}
	line, file := s.probe("ask")
	begin, end := person.Start(line)
	code := readCode(begin)
	if shown := person.Screen()[begin:]; strings.Contains(shown, "\x1b[2J") || !strings.Contains(shown,
		"everything off") {
		t.Errorf("shown as %q; want no \"\\x1b[2J\" in shown and \"everything off\" in shown", shown)
	}
	person.Type(code)
	person.Await(begin, end)
	if a := s.answer(file); a.Outcome != "allowed" {
		t.Errorf("with the code: %+v", a)
	}
	line, file = s.probe("ask")
	begin, end = person.Start(line)
	readCode(begin)
	person.Type("\x1b")
	person.Await(begin, end)
	if a := s.answer(file); a.Outcome != "refused" || !strings.Contains(a.Reason, "cancelled") {
		t.Errorf(`after Escape: %+v; want a.Outcome == "refused" and "cancelled" in a.Reason`, a)
	}
	line, file = s.probe("ask")
	begin, end = person.Start(line)
	for range codeTries {
		readCode(begin)
		mark := person.Mark()
		person.Type("0000") // no code has a 0
		begin = mark
	}
	person.Await(begin, end)
	if a := s.answer(file); a.Outcome != "refused" || !strings.Contains(a.Reason, "wrong") {
		t.Errorf("after wrong ones: %+v", a)
	}
	line, file = s.probe("look")
	s.want(person, "a plain command after a code", line, file, authority.Allowed, authority.NoCause)
	if got := person.Run("stty -a | grep -c icanon"); !strings.Contains(got, "1") {
		t.Errorf("the terminal is not as it was: %q", got)
	}
}

// Panes, popups and injected keys in a real tmux that a person
// attached over ssh.
func TestRealTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	if !terminaltest.Inside(t) {
		return
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	person := terminaltest.Login(t)
	tmux := func(args ...string) {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-S", s.dir + "/tmux"}, args...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: terminaltest.UserID,
			Gid: terminaltest.UserID}}
		cmd.Env = []string{"PATH=/usr/bin:/bin", "TERM=xterm", "HOME=" + terminaltest.Home(), "SHELL=/bin/sh",
			"LC_ALL=C.UTF-8"}
		cmd.Dir = "/"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
	}
	tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", "exec /bin/sh")
	line, file := s.probe("look")
	tmux("send-keys", "-l", line)
	tmux("send-keys", "Enter")
	if a := s.answer(file); a.Outcome != "refused" || a.Cause != "no-client" {
		t.Errorf(`detached: %+v; want a.Outcome == "refused" and a.Cause == "no-client"`, a)
	}
	person.Type("exec tmux -S " + s.dir + "/tmux attach\n")
	terminaltest.Eventually(t, "tmux is shown", func() bool { return strings.Contains(person.Screen(), "\x1b[?1049h") })
	typed := func(line string) {
		person.Type(line + "\r")
	}
	line, file = s.probe("look")
	typed(line)
	if a := s.answer(file); a.Outcome != "code" || a.Cause != "not-typed" {
		t.Errorf("typed in a pane: got %+v, want a code, because a program could have typed it", a)
	}
	line, file = s.probe("look")
	tmux("new-window", "-d", "sh", "-c", line+"; :")
	if a := s.answer(file); a.Outcome != "code" {
		t.Errorf("new-window -d: %+v", a)
	}
	line, file = s.probe("look")
	tmux("run-shell", line)
	if a := s.answer(file); a.Outcome != "refused" || a.Cause != "no-terminal" {
		t.Errorf(`run-shell: %+v; want a.Outcome == "refused" and a.Cause == "no-terminal"`, a)
	}
	line, file = s.probe("ask")
	from := person.Mark()
	typed(line)
	shown := person.Await(from, "to confirm")
	_, rest, _ := strings.Cut(shown, "Type ")
	person.TypeOneByOne(rest[:codeLength])
	if a := s.answer(file); a.Outcome != "allowed" {
		t.Errorf("a code in a popup: %+v", a)
	}
}
