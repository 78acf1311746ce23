//go:build unix

package realagents

import (
	"os/exec"
	"syscall"
	"time"
)

// ownGroup gives a command a session and so a process group of its own, and makes cancelling end the
// whole group, first with a signal it can handle. It has no terminal: a daemon that finds an agent at
// yours notes that there, and then asks you for a code at your next key.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
}

// endGroup kills what is left of a command's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ESRCH: nothing left, which is the wish
	}
}

func killProcess(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }
