//go:build unix

package ops

import (
	"os/exec"
	"syscall"
)

// OwnGroup puts a process at the head of a group, so that what it starts ends
// with it.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

var signals = map[string]syscall.Signal{
	"SIGTERM": syscall.SIGTERM, "SIGKILL": syscall.SIGKILL, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP,
	"SIGQUIT": syscall.SIGQUIT, "SIGUSR1": syscall.SIGUSR1, "SIGUSR2": syscall.SIGUSR2, "SIGSTOP": syscall.SIGSTOP,
	"SIGCONT": syscall.SIGCONT,
}

func SignalGroup(cmd *exec.Cmd, name string) bool {
	s, ok := signals[name]
	return ok && syscall.Kill(-cmd.Process.Pid, s) == nil
}

func signalOf(exit *exec.ExitError) string {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		for name, s := range signals {
			if s == status.Signal() {
				return name
			}
		}
		return status.Signal().String()
	}
	return "SIGTERM"
}
