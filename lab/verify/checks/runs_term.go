package checks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// runTerm ends the agent in the middle of a command.
func runTerm(ctx context.Context, st *testbed.TestBed) error {
	st.SetScript(append(testbed.CallSteps(st.Table.Shell.Call("touch ran-term; sleep 5")),
		model.Step{Say: testbed.LastWords}))
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, st.Patience)
	defer cancel()
	cmd := realagents.Command(ctx, st.AgentCommand(), st.Env, st.Project, st.FreeCommand("Run it")...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	running := func() bool {
		_, err := os.Stat(filepath.Join(st.Project, "ran-term"))
		return err == nil
	}
	for until := time.Now().Add(st.Patience / 2); !running() && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	began := running()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = cmd.Wait() // how it ended is in its state
	testbed.EndGroup(cmd)
	e := st.Evidence
	e.Stdout, e.Stderr = out.String(), errs.String()
	if s := cmd.ProcessState; s != nil {
		e.Exit, e.Signal = s.ExitCode(), testbed.SignalOf(s)
	}
	if !began {
		return fmt.Errorf("the agent did not come to the command that was to be interrupted: %s", cmd.ProcessState)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("the agent did not end after SIGTERM")
	}
	return nil
}
