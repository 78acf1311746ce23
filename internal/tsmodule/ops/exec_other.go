//go:build !unix

package module

import "os/exec"

func ownGroup(*exec.Cmd) {}

func signalGroup(cmd *exec.Cmd, _ string) bool { return cmd.Process.Kill() == nil }

func signalOf(*exec.ExitError) string { return "SIGKILL" }
