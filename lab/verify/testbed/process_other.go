//go:build !unix

package testbed

import (
	"os"
	"os/exec"
)

func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}

func SignalOf(*os.ProcessState) string { return "" }

func terminateProcess(p *os.Process) { _ = p.Kill() }
