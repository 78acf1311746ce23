package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/verify/agents"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// playTerm ends the agent in the middle of a command.
func playTerm(ctx context.Context, st *Stage) error {
	st.setScript(append(callSteps(st.Table.Shell.Call("touch ran-term; sleep 5")), model.Step{Say: lastWords}))
	if err := st.startHubWithHooks(nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, st.patience)
	defer cancel()
	cmd := agents.Command(ctx, st.start(), st.Env, st.Project, st.freeCommand("Run it")...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	running := func() bool {
		_, err := os.Stat(filepath.Join(st.Project, "ran-term"))
		return err == nil
	}
	for until := time.Now().Add(st.patience / 2); !running() && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	began := running()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := cmd.Wait()
	endGroup(cmd)
	e := st.evidence
	e.Stdout, e.Stderr = out.String(), errs.String()
	if s := cmd.ProcessState; s != nil {
		e.Exit, e.Signal = s.ExitCode(), signalOf(s)
	}
	if !began {
		return fmt.Errorf("the agent did not come to the command that was to be interrupted: %v", err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("the agent did not end after SIGTERM")
	}
	return nil
}
