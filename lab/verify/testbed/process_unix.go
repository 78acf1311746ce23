//go:build unix

package testbed

import (
	"os"
	"os/exec"
	"syscall"
)

// EndGroup kills what is left of a command's own process group.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ESRCH: nothing left, which is the wish
	}
}

func SignalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}

func terminateProcess(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }
