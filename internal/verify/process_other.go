//go:build !unix

package verify

import (
	"os"
	"os/exec"
)

func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}

func signalOf(*os.ProcessState) string { return "" }

func terminate(p *os.Process) { _ = p.Kill() }
