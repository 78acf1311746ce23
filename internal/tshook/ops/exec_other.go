//go:build !unix

package ops

import "os/exec"

// OwnGroup does nothing: there are no process groups here.
func OwnGroup(*exec.Cmd) {}

// SignalGroup kills the process.
func SignalGroup(cmd *exec.Cmd, _ string) bool { return cmd.Process.Kill() == nil }

func signalOf(*exec.ExitError) string { return "SIGKILL" }
