package terminal

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminaltest"
)

// asUser runs a program of the user's that nobody sees, and gives what it prints.
func (s *testBed) asUser(program string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: terminaltest.UserID,
		Gid: terminaltest.UserID}}
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/bin", "TERM=xterm", "HOME=" + terminaltest.Home(), "SHELL=/bin/sh",
		"LC_ALL=C.UTF-8"}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v: %s", program, args, err, out)
	}
	return string(out)
}

// shownCode returns the code that a person sees behind a place on their screen.
func shownCode(t *testing.T, person *terminaltest.Terminal, from int) string {
	t.Helper()
	person.Await(from, "Confirm with") // the popup reads keys
	shown := person.Await(from, "to confirm")
	return shown[strings.LastIndex(shown, "Type ")+len("Type "):][:codeLength]
}

// inTmux is a person who attached to their tmux over ssh.
func inTmux(t *testing.T) (s *testBed, person *terminaltest.Terminal, tmux func(...string) string) {
	t.Helper()
	terminaltest.StartSSH(t)
	s = newTestBed(t)
	person = terminaltest.Login(t)
	tmux = func(args ...string) string {
		t.Helper()
		return s.asUser("tmux", append([]string{"-S", s.dir + "/tmux"}, args...)...)
	}
	tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", "exec /bin/sh")
	person.Type("exec tmux -S " + s.dir + "/tmux attach\n")
	terminaltest.Eventually(t, "tmux is shown", func() bool { return strings.Contains(person.Screen(), "\x1b[?1049h") })
	return s, person, tmux
}

// A popup of an agent's keeps the daemon's from opening: the code is shown nowhere, and
// least of all in a pane.
func TestRealPopupBlocked(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s, person, tmux := inTmux(t)
	client := strings.TrimSpace(tmux("list-clients", "-F", "#{client_name}"))
	pane := strings.TrimSpace(tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "exec /bin/sh"))
	s.asUser("/bin/sh", "-c", "setsid -f tmux -S "+s.dir+"/tmux display-popup -c "+client+
		" -B -w 1 -h 1 -E 'touch "+s.dir+"/blocks; sleep 60' </dev/null >/dev/null 2>&1")
	terminaltest.Eventually(t, "the agent's popup is open", func() bool {
		_, err := os.Stat(s.dir + "/blocks")
		return err == nil
	})
	line, file := s.probe("ask")
	tmux("send-keys", "-t", pane, "-l", line)
	tmux("send-keys", "-t", pane, "Enter")
	person.Type("id\r") // the user works on
	if a := s.answer(file); a.Outcome != "refused" || !strings.Contains(a.Reason, "tmux opened no popup") {
		t.Errorf("with a popup in the way: got %+v, want it refused because no popup opens", a)
	}
	if shown := tmux("capture-pane", "-p", "-t", pane); strings.Contains(shown, "Type ") {
		t.Errorf("the pane shows %q, want no code in it", shown)
	}
}

// Each character of the code has to be typed at the user's keyboard: what comes
// at once, as programs type, is not believed.
func TestRealKeysOneByOne(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s, person, tmux := inTmux(t)
	pane := strings.TrimSpace(tmux("display-message", "-p", "#{pane_id}"))
	line, file := s.probe("ask")
	from := person.Mark()
	person.Type(line + "\r")
	person.Await(from, "Confirm with")
	code := shownCode(t, person, from)
	if shown := tmux("capture-pane", "-p", "-t", pane); strings.Contains(shown, code) {
		t.Errorf("the pane shows the code %s: %q", code, shown)
	}
	from = person.Mark()
	person.Type(code)
	person.Await(from, "came too fast") // the next code is shown by then
	person.TypeOneByOne(shownCode(t, person, from))
	if a := s.answer(file); a.Outcome != "allowed" {
		t.Errorf("after typing the code key by key: got %+v, want it allowed", a)
	}
}

// A pane that tmux does not list passes for a popup, in which keys are read. The code is not
// in it: the daemon writes that to the user's terminal, and tmux never gets it.
func TestRealPaneThatPassesForAPopup(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s, person, tmux := inTmux(t)
	pane := strings.TrimSpace(tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "exec /bin/sh"))
	listed := "list-panes -f '#{!=:#{pane_id}," + pane + "}'"
	for _, lies := range [][]string{
		{"list-panes=" + listed},
		// The same for a daemon that looks for aliases.
		{"list-panes=" + listed, "show-options=bind-key -T unused x set-option"},
	} {
		for i, alias := range lies {
			tmux("set-option", "-s", fmt.Sprintf("command-alias[%d]", 70+i), alias)
		}
		line, file := s.probe("ask")
		from := person.Mark()
		tmux("send-keys", "-t", pane, "-l", line)
		tmux("send-keys", "-t", pane, "Enter")
		if len(lies) == 1 {
			if a := s.answer(file); a.Outcome != "refused" || a.Cause != "unproven" {
				t.Errorf("a tmux with an alias for list-panes: got %+v, want that nothing is known of it", a)
			}
			continue
		}
		shown := person.Await(from, "to confirm") // the user sees it, and does not type it
		if !strings.Contains(shown, "everything off") {
			t.Errorf("the user's terminal shows a code and not what for: %q", shown)
		}
		for range codeTries {
			shown := person.Screen()
			code := shown[strings.LastIndex(shown, "Type ")+len("Type "):][:codeLength]
			if shown := tmux("capture-pane", "-p", "-t", pane); strings.Contains(shown, code) {
				t.Fatalf("the pane shows the code %s: %q", code, shown)
			}
			for range codeLength {
				person.Type("x")
				tmux("send-keys", "-t", pane, "0") // no code has one
			}
		}
		tmux("send-keys", "-t", pane, "Escape") // if a key was not taken
		if a := s.answer(file); a.Outcome != "refused" {
			t.Errorf("a code in a pane that passes for a popup: got %+v, want it refused", a)
		}
	}
}

// Keys that another program sends to a view while the user types somewhere else.
func TestRealKeysForAHiddenView(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s, person, tmux := inTmux(t)
	waits := func(file string) {
		t.Helper()
		terminaltest.Eventually(t, "the view waits for a key", func() bool { _, err := os.Stat(file + ".waits"); return err == nil })
	}
	pane := strings.TrimSpace(tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "exec /bin/sh"))
	tmux("set-option", "-s", "command-alias[70]", "list-panes=list-panes -f '#{!=:#{pane_id},"+pane+"}'")
	tmux("set-option", "-s", "command-alias[71]", "show-options=bind-key -T unused x set-option")
	line, file := s.probe("view")
	tmux("send-keys", "-t", pane, "-l", line)
	tmux("send-keys", "-t", pane, "Enter")
	waits(file)
	from := person.Mark()
	person.Type("echo ty''ped\r")
	person.Await(from, "typed")
	tmux("send-keys", "-t", pane, "Enter")
	if a := s.answer(file); a.Outcome != "code" || a.Cause != "not-typed" {
		t.Errorf("a key for a hidden view while the user types elsewhere: got %+v, want a code", a)
	}
	tmux("set-option", "-su", "command-alias[70]")
	tmux("set-option", "-su", "command-alias[71]")

	// The user's own key in their view, after they typed in another pane.
	line, file = s.probe("view")
	person.Type(line + "\r")
	waits(file)
	tmux("select-window", "-t", pane)
	from = person.Mark()
	person.Type("echo ty''ped\r")
	person.Await(from, "typed")
	tmux("last-window")
	time.Sleep(2*staleKey + time.Second) // nothing shows when the daemon has forgotten the keys
	person.Type("\r")
	if a := s.answer(file); a.Outcome != "allowed" {
		t.Errorf("the user's key in their view: got %+v, want it allowed", a)
	}
}

// A terminal answers queries as if somebody typed. Whoever can write to it, or have tmux write
// there, gets keys of their choice that way.
func TestRealTerminalAnswers(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s, person, tmux := inTmux(t)
	device := strings.TrimSpace(tmux("list-clients", "-F", "#{client_tty}"))
	plain := terminaltest.Login(t)
	own := plain.Device()
	begin := func(at *terminaltest.Terminal) (file string) {
		t.Helper()
		line, file := s.probe("view")
		at.Type(line + "\r")
		terminaltest.Eventually(t, "the view waits for a key", func() bool { _, err := os.Stat(file + ".waits"); return err == nil })
		return file
	}
	for _, at := range []*terminaltest.Terminal{plain, person} {
		file := begin(at)
		at.Type("\r")
		if a := s.answer(file); a.Outcome != "allowed" {
			t.Errorf("the user's own key: got %+v, want it allowed", a)
		}
	}
	doubted := func(what, file string) {
		t.Helper()
		if a := s.answer(file); a.Outcome != "code" || a.Cause != "shared" {
			t.Errorf("%s: got %+v, want a code because others can have keys arrive there", what, a)
		}
	}

	file := begin(person)
	tmux("set-option", "-g", "allow-passthrough", "on")
	person.Type("\r")
	doubted("a tmux that passes queries on", file)
	tmux("set-option", "-g", "allow-passthrough", "off")

	file = begin(person)
	s.asUser("sh", "-c", "printf '\\033[c' >"+device)
	person.Type("\x1b[?1;2c") // the terminal's answer
	tmux("send-keys", "Enter")
	doubted("a query at the terminal behind tmux", file)

	file = begin(plain)
	s.asUser("sh", "-c", "printf '\\033]11;?\\007' >"+own)
	plain.Type("\r") // what is left of the answer
	doubted("a query at the user's own terminal", file)
}

// A tmux inside the user's tmux: its popups are part of what the outer one's panes
// show, so the code is shown over the outer one.
func TestRealNestedTmux(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s, person, tmux := inTmux(t)
	pane := strings.TrimSpace(tmux("new-window", "-P", "-F", "#{pane_id}", "env -u TMUX tmux -f /dev/null -S "+s.dir+
		"/inner new-session 'exec /bin/sh'"))
	inner := func(args ...string) { s.asUser("tmux", append([]string{"-S", s.dir + "/inner"}, args...)...) }
	terminaltest.Eventually(t, "the inner tmux has a client", func() bool {
		out, err := exec.Command("tmux", "-S", s.dir+"/inner", "list-clients").Output()
		return err == nil && len(out) > 0
	})
	line, file := s.probe("ask")
	from := person.Mark()
	inner("send-keys", "-l", line)
	inner("send-keys", "Enter")
	code := shownCode(t, person, from)
	if shown := tmux("capture-pane", "-p", "-t", pane); strings.Contains(shown, code) {
		t.Errorf("the outer pane shows the code %s: %q", code, shown)
	}
	tmux("send-keys", "-t", pane, code) // reaches the inner tmux, not the popup
	person.TypeOneByOne(code)
	if a := s.answer(file); a.Outcome != "allowed" {
		t.Errorf("typed over the outer tmux: got %+v, want it allowed", a)
	}
}

// A command that another program types into the user's pane right after they
// typed something there.
func TestRealKeysAfterYours(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s, person, tmux := inTmux(t)
	for range 3 {
		line, file := s.probe("look")
		mark := person.Mark()
		person.Type("echo ty''ped\r")
		person.Await(mark, "typed") // else the two lines could mix
		tmux("send-keys", "-l", line)
		tmux("send-keys", "Enter")
		if a := s.answer(file); a.Outcome != "code" || a.Cause != "not-typed" {
			t.Errorf("sent right after a key of the user's: got %+v, want a code", a)
		}
	}
}

// Programs that a person starts are not the user.
func TestRealProgramsYouStart(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	person := terminaltest.Login(t)
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(s.dir+"/"+name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return s.dir + "/" + name
	}
	asked := func(name string, run func(line string) string) {
		t.Helper()
		line, file := s.probe("look")
		s.want(person, name, run(line), file, authority.NeedCode, authority.Between)
	}
	asked("a Makefile", func(line string) string {
		return "make -s -f " + write("Makefile", "all:\n\t@"+strings.ReplaceAll(line, "$", "$$")+"; :\n")
	})
	asked("a script", func(line string) string { return write("script.sh", "#!/bin/sh\n"+line+"\n:\n") })
	asked("a script with job control", func(line string) string {
		return write("log.sh", "#!/bin/bash\nset -m\n"+line+"\n:\n")
	})
	asked("an alias", func(line string) string {
		return "alias lst=" + write("lst.sh", "#!/bin/sh\n"+line+"\n:\n") + "\nlst"
	})
	become := func(line string) string { // the shell of the script becomes hookmux
		at := strings.Index(line, terminaltest.Base()+"/test")
		return "export " + line[:at] + "\nexec " + line[at:] + "\n"
	}
	asked("a script that becomes hookmux", func(line string) string {
		return write("become.sh", "#!/bin/sh\n"+become(line))
	})
	asked("a script without an interpreter that becomes hookmux", func(line string) string {
		return write("become", become(line))
	})
	asked("env, which becomes hookmux", func(line string) string { return "env " + line })
	asked("a shell with another start file", func(line string) string {
		return "bash --rcfile " + write("rc", line+"\nexit\n") + " -i"
	})
	line, file := s.probe("look")
	other := terminaltest.Base() + "/other"
	program, err := os.ReadFile(terminaltest.Base() + "/test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, append(program, 0), 0o755); err != nil {
		t.Fatal(err)
	}
	s.want(person, "another program that asks by itself", strings.ReplaceAll(line, terminaltest.Base()+"/test", other), file,
		authority.NeedCode, authority.OtherProgram)
	copied := terminaltest.Base() + "/copy"
	if err := os.WriteFile(copied, program, 0o755); err != nil {
		t.Fatal(err)
	}
	line, file = s.probe("look")
	s.want(person, "a copy of hookmux", strings.ReplaceAll(line, terminaltest.Base()+"/test", copied), file,
		authority.Allowed, authority.NoCause)

	// An agent in the background of the same terminal, where it may type into it.
	if !letsProgramsType(readSysctl, kernelRelease()) {
		return
	}
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	agent := write("acme", string(sleep))
	person.Run(agent + " 300 & true")
	line, file = s.probe("look")
	s.want(person, "beside an agent", line, file, authority.NeedCode, authority.Shared)
	person.Run("kill %1; wait")
	line, file = s.probe("look")
	s.want(person, "after the agent", line, file, authority.Allowed, authority.NoCause)
}

// What an agent types ahead into the user's terminal is read after it has ended.
func TestRealTypedAhead(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	if !letsProgramsType(readSysctl, kernelRelease()) {
		t.Skip("this kernel does not let programs type into their terminal")
	}
	if !terminaltest.Inside(t) {
		return
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	person := terminaltest.Login(t)
	before, file := s.probe("look")
	s.want(person, "before the agent", before, file, authority.Allowed, authority.NoCause)
	for _, restart := range []bool{false, true} { // what is remembered, and what the terminal shows
		hook, hooked := s.probe("hook")
		line, file := s.probe("look")
		text := fmt.Sprintf("import fcntl, os, subprocess, termios\nsubprocess.run(%q, shell=True)\n"+
			"t = os.open('/dev/tty', os.O_RDWR)\nfor c in %q: fcntl.ioctl(t, termios.TIOCSTI, c.encode())\n",
			"exec env "+hook, "sleep 1; "+line+"\r")
		if err := os.WriteFile(s.dir+"/ahead.py", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		person.Type("python3 " + s.dir + "/ahead.py\n")
		s.answer(hooked)
		if restart {
			s.restart()
		}
		if a := s.answer(file); a.Outcome != "code" || a.Cause != "shared" && a.Cause != "not-typed" {
			t.Errorf("typed ahead by an agent that has ended (daemon restarted: %v): got %+v, want a code", restart, a)
		}
	}
}

const proxyVariable = "TERMINAL_TEST_PROXY"

// TestHelperProxy plays what connects ssh to a socket file.
func TestHelperProxy(t *testing.T) {
	socket := os.Getenv(proxyVariable)
	if socket == "" {
		t.Skip("runs only as the child of another test")
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(conn, os.Stdin) }()
	_, _ = io.Copy(os.Stdout, conn)
}

// ssh to the own machine without a TCP connection, as systemd sets it up.
func TestRealLoginOverASocketFile(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	socket := terminaltest.Base() + "/sshd.sock"
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f, err := conn.(*net.UnixConn).File()
			_ = conn.Close() // sshd has it
			if err != nil {
				return
			}
			sshd := exec.Command("/usr/sbin/sshd", "-i", "-f", terminaltest.Config())
			sshd.Stdin, sshd.Stdout = f, f
			sshd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			_ = sshd.Start() // else nobody logs in
			_ = f.Close()
		}
	}()
	person := terminaltest.Open(t, terminaltest.UserID, "ssh", "-tt", "-q", "-F", "none", "-i",
		terminaltest.OwnKey(t, terminaltest.UserID), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
		"ProxyCommand=env "+proxyVariable+"="+socket+" "+terminaltest.Base()+"/test -test.run=^TestHelperProxy$",
		terminaltest.UserName+"@local")
	person.Run("PS1='> '; stty -echo")
	for _, word := range []string{"look", "ask"} {
		line, file := s.probe(word)
		person.Run(line)
		if a := s.answer(file); a.Outcome == "allowed" || a.Outcome == "code" || a.Cause != "unproven" {
			t.Errorf("%s over a socket file: got %+v, want that nothing is known of this login", word, a)
		}
	}
}

// ssh to the own machine by a client under an id of the user's namespaces.
func TestRealLoginBySubordinate(t *testing.T) {
	for _, program := range []string{"newuidmap", "unshare", "setpriv"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if !terminaltest.Inside(t) {
		return
	}
	for _, file := range []string{"/etc/subuid", "/etc/subgid"} {
		terminaltest.Extend(t, file, terminaltest.UserName+":200000:65536\n")
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	key := terminaltest.OwnKey(t, terminaltest.UserID)
	script := fmt.Sprintf("cp %s %s/k && chown 5:5 %[2]s/k && chmod 600 %[2]s/k && exec setpriv --reuid 5 --regid 5 "+
		"--clear-groups env -i HOME=/tmp PATH=/usr/bin:/bin TERM=xterm ssh -tt -q -F none -p 2222 -i %[2]s/k -o "+
		"StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null %s@127.0.0.1", key, s.dir, terminaltest.UserName)
	person := terminaltest.Open(t, terminaltest.UserID, "unshare", "--user", "--map-root-user", "--map-auto", "sh", "-c", script)
	person.Run("PS1='> '; stty -echo")
	for _, word := range []string{"look", "ask"} {
		line, file := s.probe(word)
		person.Run(line)
		if a := s.answer(file); a.Outcome == "allowed" || a.Outcome == "code" {
			t.Errorf("%s by a subordinate id: got %+v, want it not believed", word, a)
		}
	}
}

// A window on an X server that does not let itself be looked at.
func TestRealHiddenDisplay(t *testing.T) {
	for _, program := range []string{"Xvfb", "xterm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	if err := os.MkdirAll(sessionsOfLogin, 0o755); err != nil {
		t.Fatal(err)
	}
	session := fmt.Sprintf("UID=%d\nACTIVE=1\nTYPE=x11\nSEAT=seat0\n", terminaltest.UserID)
	if err := os.WriteFile(sessionsOfLogin+"/9", []byte(session), 0o644); err != nil {
		t.Fatal(err)
	}
	server, err := exec.LookPath("Xvfb")
	if err != nil {
		t.Fatal(err)
	}
	forget := func() {
		for _, left := range []string{"/tmp/.X11-unix/X77", "/tmp/.X77-lock"} {
			_ = os.Remove(left) // of a run before
		}
	}
	forget()
	defer forget()
	line, file := s.probe("look")
	s.asUser("/bin/sh", "-c", "cp "+server+" "+s.dir+"/xv && chmod 111 "+s.dir+"/xv && setsid -f "+s.dir+
		"/xv :77 -screen 0 800x600x24 </dev/null >/dev/null 2>&1")
	terminaltest.Eventually(t, "the X server listens", func() bool { _, err := os.Stat("/tmp/.X11-unix/X77"); return err == nil })
	command := s.dir + "/in-xterm"
	if err := os.WriteFile(command, []byte("#!/bin/sh\n"+line+"\n:\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.asUser("/bin/sh", "-c", "DISPLAY=:77 setsid -f xterm -e "+command+" </dev/null >/dev/null 2>&1")
	if a := s.answer(file); a.Outcome != "PIN" || a.Cause != "unproven" {
		t.Errorf("on a hidden display: got %+v, want that nothing is known of it", a)
	}
}

// ssh to the own machine by a client that is gone when hookmux looks: its command still
// waits in the terminal, because the login's process, which is the user's own, is stopped.
func TestRealLoginWithoutClient(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	terminaltest.StartSSH(t)
	s := newTestBed(t)
	own := terminaltest.LoginAs(t, terminaltest.UserID)
	line, file := s.probe("look")
	begin, _ := own.Start("echo =$PPID=; sleep 2; " + line)
	shown := own.Await(begin, "=\r\n")
	_, pid, _ := strings.Cut(strings.TrimSuffix(shown, "=\r\n"), "=")
	s.asUser("/bin/kill", "-STOP", pid)
	own.HangUp()
	if a := s.answer(file); a.Outcome != authority.Refused.String() || a.Cause != authority.LocalLogin.String() {
		t.Errorf("got %+v, want it refused", a)
	}
	s.asUser("/bin/kill", "-CONT", pid)
}
