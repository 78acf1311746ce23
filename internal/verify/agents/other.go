//go:build !unix

package agents

import (
	"context"
	"errors"
	"os/exec"
)

func lock(context.Context, string, func()) (func(), error) {
	return nil, errors.New("agents are only installed on Linux and macOS")
}

func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}

func kill(int) {}
