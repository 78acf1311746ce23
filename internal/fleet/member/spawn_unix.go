//go:build unix

package member

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// maxLog is how long hookmux-fleet's log gets before the next start begins a new one.
const maxLog = 8 << 20

// spawn starts hookmux-fleet, which outlives the daemon.
func spawn(program string, args []string, log, home string) (*child, error) {
	if info, err := os.Stat(log); err == nil && info.Size() > maxLog {
		if err := os.Rename(log, log+".old"); err != nil {
			return nil, err
		}
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the program has its own
	cmd := exec.Command(program, args...)
	cmd.Dir = filepath.Dir(log)
	cmd.Env = programEnv(home)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{over: make(chan struct{}), kill: cmd.Process.Kill}
	go func() { c.err = cmd.Wait(); close(c.over) }() // it may outlive this daemon
	return c, nil
}

func terminate(pid int) error {
	if pid <= 1 {
		return os.ErrInvalid
	}
	return syscall.Kill(pid, syscall.SIGTERM)
}

func last(log []byte) string {
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return string(lines[len(lines)-1])
}
