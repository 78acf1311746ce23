package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// target is a target of ssh: a host, an alias of ~/.ssh/config, user@host. It never begins
// with a dash, which ssh would read as an option.
var target = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@%:\[\]-]*$`)

// CheckTarget returns what is wrong with a target for ssh.
func CheckTarget(to string) error {
	if !target.MatchString(to) || len(to) > 255 {
		return fmt.Errorf("%.60q isn't a host; write it as for ssh: user@host, or a name from your ~/.ssh/config", to)
	}
	return nil
}

// LinkOptions are ssh's options for everything that hookmux runs in the background: no
// question, nothing forwarded, no shared connection that could outlive it, and a dead link
// is noticed within half a minute.
var LinkOptions = []string{"-T", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o", "ControlPath=none",
	"-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "PermitLocalCommand=no",
	"-o", "RemoteCommand=none", "-o", "RequestTTY=no", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10",
	"-o", "ServerAliveCountMax=3"}

// Program finds ssh: where systems have it, before PATH, which an agent may have set for a daemon
// that its hook started.
func Program() (string, error) {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"} {
		file := filepath.Join(dir, "ssh")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	file, err := exec.LookPath("ssh")
	if err != nil {
		return "", errors.New("there's no ssh on this machine; install OpenSSH's client")
	}
	return file, nil
}

// ServeCommand returns the command line of the far end.
func ServeCommand(program string) string {
	if program == "" {
		program = "hookmux"
	}
	return "exec " + shellquote.Argument(program) + " remote-serve"
}

// passedOn are the daemon's variables that ssh gets.
var passedOn = []string{"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"}

func sshEnvironment(authSock string) []string {
	var env []string
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok && !(name == "SSH_AUTH_SOCK" && value == "") {
			env = append(env, name+"="+value)
		}
	}
	if os.Getenv("SSH_AUTH_SOCK") == "" && authSock != "" {
		env = append(env, "SSH_AUTH_SOCK="+authSock)
	}
	return env
}

// sshConn is a running ssh, seen as the connection it carries.
type sshConn struct {
	io.Reader
	io.WriteCloser
	cmd   *exec.Cmd
	said  tail // on standard error
	close sync.Once
}

// dialSSH starts ssh to a host.
func dialSSH(ctx context.Context, h *host) (conn, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	if err := CheckTarget(h.Target); err != nil {
		return nil, err
	}
	args := append(append([]string{}, LinkOptions...), "--", h.Target, ServeCommand(h.Program))
	c := &sshConn{cmd: exec.CommandContext(ctx, program, args...)}
	c.cmd.Env, c.cmd.Stderr = sshEnvironment(h.AuthSock), &c.said
	c.cmd.Dir = "/"
	c.cmd.WaitDelay = 2 * time.Second
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(os.Interrupt) }
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Reader, c.WriteCloser = out, in
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("ssh doesn't start: %w", err)
	}
	return c, nil
}

// Close ends ssh and waits for it.
func (c *sshConn) Close() error {
	c.close.Do(func() {
		_ = c.WriteCloser.Close()
		ended := time.AfterFunc(time.Second, func() { _ = c.cmd.Process.Kill() })
		_ = c.cmd.Wait() // why it ended is in what it said
		ended.Stop()
	})
	return nil
}

// PID returns ssh's process number.
func (c *sshConn) PID() int { return c.cmd.Process.Pid }

// Why returns ssh's own message about why the link ended.
func (c *sshConn) Why() string { return c.said.last() }

// tail keeps the end of a program's output.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = bytes.Clone(t.text[extra:])
	}
	return len(b), nil
}

// last returns the last line that isn't empty.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return termsafe.Line(strings.TrimSpace(lines[len(lines)-1]), 200)
}
