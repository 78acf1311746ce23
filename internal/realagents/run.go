package realagents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Result is the result of a headless run.
type Result struct {
	Stdout, Stderr string
	Exit           int
	Took           time.Duration
}

// Command prepares a start of an agent in its own process group; cancelling ctx
// ends the group. env comes from WriteHome. Stdin is empty unless set.
func Command(ctx context.Context, in Installed, env []string, dir string, args ...string) *exec.Cmd {
	argv := append(append([]string(nil), in.Argv...), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append([]string(nil), env...), in.Env...)
	ownGroup(cmd)
	return cmd
}

// Run starts an agent, waits for it and ends what it left in its group. A
// non-zero exit is a result, not an error.
func Run(ctx context.Context, in Installed, env []string, dir string, args ...string) (Result, error) {
	cmd := Command(ctx, in, env, dir, args...)
	var out, errb bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errb
	began := time.Now()
	err := cmd.Run()
	endGroup(cmd)
	r := Result{Stdout: out.String(), Stderr: errb.String(), Took: time.Since(began), Exit: -1}
	if cmd.ProcessState != nil {
		r.Exit = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("%s: did not end in time: %w; see its output", in.Name, ctx.Err())
	case err == nil, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return r, nil
	}
	return r, fmt.Errorf("%s: cannot start %s: %w", in.Name, in.Argv[0], err)
}

// Leftovers finds processes of this agent that still run for a throw-away home:
// daemons that it detached from its group. Only processes whose program comes
// from the agents' cache, or that work inside the home, are looked at; of those
// the ones whose HOME is that home count. Linux only; elsewhere,
// and where /proc shows another pid namespace, the list is empty.
func Leftovers(in Installed, home string) []int {
	if !procIsOurs() {
		return nil
	}
	want := []byte("HOME=" + home)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, d := range dirs {
		exe, _ := os.Readlink(filepath.Join(d, "exe"))
		cwd, _ := os.Readlink(filepath.Join(d, "cwd"))
		if !paths.IsWithin(filepath.Dir(in.Dir), exe) && !paths.IsWithin(home, cwd) {
			continue
		}
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(d))
		if err == nil && pid != os.Getpid() && slices.ContainsFunc(bytes.Split(env, []byte{0}),
			func(kv []byte) bool { return bytes.Equal(kv, want) }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// procIsOurs reports whether the numbers in /proc are those we may signal. In a
// pid namespace that still sees the outer /proc they name other processes.
func procIsOurs() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// EndLeftovers kills what Leftovers finds and returns the pids. The home must be
// a throw-away one that no other process can have.
func EndLeftovers(in Installed, home string) []int {
	pids := Leftovers(in, home)
	for _, pid := range pids {
		killProcess(pid)
	}
	return pids
}
