package terminaltest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const port = "2222"

// StartSSH runs sshd as root until the test ends.
func StartSSH(t *testing.T) {
	t.Helper()
	keys := Base() + "/keys"
	run := func(name string, args ...string) {
		t.Helper()
		program, err := findProgram(name)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys+"/host")
	run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys+"/visitor")
	public, err := os.ReadFile(keys + "/visitor.pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys+"/authorized", public, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(keys+"/visitor", VisitorID, VisitorID); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile "+
		"%s/authorized\nUsePAM no\nStrictModes no\n"+
		"PasswordAuthentication no\nPrintMotd no\nPrintLastLog no\nAcceptEnv SEATTEST_*\nPidFile none\n", port,
		keys, keys)
	if err := os.WriteFile(keys+"/config", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	program, err := findProgram("sshd")
	if err != nil {
		t.Fatal(err)
	}
	// A file: what was started inside keeps a pipe open, and Wait would wait for that.
	log, err := os.Create(keys + "/log")
	if err != nil {
		t.Fatal(err)
	}
	sshd := exec.Command(program, "-D", "-e", "-f", keys+"/config")
	sshd.Stderr = log
	sshd.Env = []string{"PATH=" + os.Getenv("PATH")}
	sshd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := sshd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sshd.Process.Kill() // everything inside ends with the test
		_ = sshd.Wait()
		_ = log.Close()
		if said, err := os.ReadFile(keys + "/log"); err == nil && t.Failed() {
			t.Logf("sshd says:\n%s", said)
		}
	})
	Eventually(t, "sshd answers", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close() // only asked
		}
		return err == nil
	})
}

// Eventually waits for something that must come.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// Terminal is a person's terminal: what they type and what they see.
type Terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu   sync.Mutex
	seen []byte
}

// Login logs the user in over ssh and waits until the kernel tells about keys
// that are typed there, which it does not in a terminal's first seconds.
func Login(t *testing.T) *Terminal {
	t.Helper()
	term := LoginAs(t, VisitorID)
	term.AwaitKeys()
	return term
}

// Config returns the file that sshd was started with.
func Config() string { return Base() + "/keys/config" }

// OwnKey returns a copy, for a user, of the key that lets people in.
func OwnKey(t *testing.T, uid int) string {
	t.Helper()
	content, err := os.ReadFile(Base() + "/keys/visitor")
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(Base(), fmt.Sprintf("key-%d", uid))
	if err := os.WriteFile(key, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(key, uid, uid); err != nil {
		t.Fatal(err)
	}
	return key
}

// LoginAs logs in by a client that runs as the given user.
func LoginAs(t *testing.T, clientID int) *Terminal {
	t.Helper()
	key := Base() + "/keys/visitor"
	if clientID != VisitorID {
		key = OwnKey(t, clientID)
	}
	term := Open(t, clientID, "ssh", "-tt", "-q", "-F", "none", "-p", port, "-i", key, "-o", "StrictHostKeyChecking=no",
		"-o", "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes", UserName+"@127.0.0.1")
	term.Run("PS1='> '; stty -echo")
	return term
}

// Open runs a program at a new terminal, as a user.
func Open(t *testing.T, uid int, program string, args ...string) *Terminal {
	t.Helper()
	path, err := findProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	master, slave, err := openTerminal(uid)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm", "HOME=" + Base() + "/visitor",
		"LANG=C.UTF-8", "SHELL=/bin/sh"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Setctty: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)},
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close() // the program has it
	term := &Terminal{t: t, master: master, cmd: cmd}
	go term.watch()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		_ = master.Close() // only read and typed
		if t.Failed() {
			shown := term.Screen()
			t.Logf("the terminal of %s shows at its end:\n%q", program, shown[max(0, len(shown)-3000):])
		}
	})
	return term
}

// HangUp ends the program at the terminal at once.
func (term *Terminal) HangUp() {
	term.t.Helper()
	if err := term.cmd.Process.Kill(); err != nil {
		term.t.Fatal(err)
	}
	_ = term.cmd.Wait() // it was killed
}

func openTerminal(uid int) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 160}); err != nil {
		return nil, nil, err
	}
	name := fmt.Sprintf("/dev/pts/%d", number)
	if err := os.Chown(name, uid, uid); err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

func (term *Terminal) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := term.master.Read(buf)
		term.mu.Lock()
		term.seen = append(term.seen, buf[:n]...)
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Screen returns all that was ever shown.
func (term *Terminal) Screen() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.seen)
}

// Type presses keys.
func (term *Terminal) Type(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatalf("type %q: %v", keys, err)
	}
}

// TypeOneByOne presses keys as a person does: each after the one before is shown.
func (term *Terminal) TypeOneByOne(keys string) {
	term.t.Helper()
	for _, key := range keys {
		from := term.Mark()
		term.Type(string(key))
		Eventually(term.t, fmt.Sprintf("the terminal shows the key %q", key), func() bool {
			return strings.ContainsRune(controls.ReplaceAllString(term.Screen()[from:], ""), key)
		})
	}
}

// controls are characters that terminals do not show.
// The line that a daemon writes past tmux, which has the code in it, is not an echo.
var controls = regexp.MustCompile(`(?s)\x1b7.*?(\x1b8|$)|\x1b(\[[0-9;?]*[a-zA-Z]|\([A-Z0-9])`)

// Await waits until a text is shown behind a place on the screen, and gives
// what stands there.
func (term *Terminal) Await(from int, text string) string {
	term.t.Helper()
	rest := ""
	Eventually(term.t, fmt.Sprintf("the terminal shows %q", text), func() bool {
		rest = term.Screen()[from:]
		return strings.Contains(rest, text)
	})
	return rest
}

// Mark returns the present end of what was shown.
func (term *Terminal) Mark() int { return len(term.Screen()) }

var runs struct {
	sync.Mutex
	n int
}

// Run types a command, waits for its end and gives what it printed.
func (term *Terminal) Run(command string) string {
	term.t.Helper()
	begin, end := term.Start(command)
	_, out, _ := strings.Cut(term.Await(begin, end), "\r\n")
	out, _, _ = strings.Cut(out, end)
	return out
}

// Start types a command and gives where its output begins and what will be
// shown when it has ended.
func (term *Terminal) Start(command string) (begin int, end string) {
	term.t.Helper()
	runs.Lock()
	runs.n++
	n := runs.n
	runs.Unlock()
	begin = term.Mark()
	// The word is put together by the shell: what is typed does not show it.
	term.Type(fmt.Sprintf("echo; %s; echo en''d-%d.\n", command, n))
	return begin, fmt.Sprintf("end-%d.", n)
}

// Device returns the path of the terminal that the shell inside runs at.
func (term *Terminal) Device() string {
	term.t.Helper()
	return strings.TrimSpace(term.Run("tty"))
}

// AwaitKeys types until the terminal's access time shows it.
func (term *Terminal) AwaitKeys() {
	term.t.Helper()
	device := term.Device()
	Eventually(term.t, "the kernel tells about keys", func() bool {
		term.Run(":")
		time.Sleep(200 * time.Millisecond) // the kernel tells in steps of 8 s
		var st unix.Stat_t
		return unix.Stat(device, &st) == nil && st.Atim.Sec > st.Ctim.Sec
	})
}
