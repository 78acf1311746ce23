package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/lab/verify/drift"
	"github.com/hookmux/hookmux/lab/verify/drivers"
)

// verifyNewest is `hookmux verify --newest`: the newest release of each agent,
// in a throw-away folder, against what was recorded.
func verifyNewest(ctx context.Context, app *cmdutil.App, names []string, f *agents.Flags) error {
	if f.Mine || f.Keep || f.Record != "" || len(f.Checks) > 0 {
		return cmdutil.UsageError("--newest compares everything with the recording, in a home of its own; leave " +
			"--mine, --keep, --record and --check out")
	}
	list, err := newestTargets(names)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hookmux-newest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	progress := func(line string) { fmt.Fprintln(app.Stderr, termsafe.Text(line)) }
	asker := drift.Asker{
		Dir: dir, Again: len(names) > 0, Progress: progress,
		Verify: func(ctx context.Context, program, record string) (drift.Asked, error) {
			return verifyProgram(ctx, app, program, record)
		},
	}
	report := drift.Report{Agents: []drift.Difference{}}
	for i, a := range list {
		if len(list) > 1 {
			progress(fmt.Sprintf("%d of %d: %s", i+1, len(list), a.Title))
		}
		d := asker.Ask(ctx, a)
		if ctx.Err() != nil {
			return cmdutil.FailWith(cmdutil.ExitFailed, "interrupted; what was started has been ended, what was "+
				"installed removed")
		}
		report.Agents = append(report.Agents, d)
	}
	if f.JSON {
		err = app.PrintJSON(report)
	} else {
		report.Text(app.Stdout)
	}
	if err == nil && !report.Quiet() {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

// newestTargets returns the agents to be asked: those named, or every one that can be
// driven here but for those that are very large.
func newestTargets(names []string) ([]realagents.Agent, error) {
	var list []realagents.Agent
	for _, name := range names {
		if known, ok := agent.Builtin().Agent(name); ok {
			name = known.Name
		}
		a, ok := realagents.Find(name)
		if !ok {
			return nil, cmdutil.UsageError("`hookmux verify --newest` can't install %q, only %s", name, strings.Join(realagents.Names(), ", "))
		}
		if !slices.ContainsFunc(list, func(had realagents.Agent) bool { return had.Name == name }) {
			list = append(list, a)
		}
	}
	if len(names) > 0 {
		return list, nil
	}
	for _, name := range drivers.Names() {
		if a, ok := realagents.Find(name); ok && !a.Large && a.PublishedHere() {
			list = append(list, a)
		}
	}
	return list, nil
}

// verifyProgram asks one program with `hookmux verify` of its own, which keeps it
// from the network.
func verifyProgram(ctx context.Context, app *cmdutil.App, program, record string) (drift.Asked, error) {
	self, err := os.Executable()
	if err != nil {
		return drift.Asked{}, err
	}
	cmd := exec.CommandContext(ctx, self, "verify", program, "--json", "--record", record)
	cmd.Env = app.Environ
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it tidies up
	cmd.WaitDelay = 30 * time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	said, err := cmd.StderrPipe()
	if err != nil {
		return drift.Asked{}, err
	}
	if err := cmd.Start(); err != nil {
		return drift.Asked{}, err
	}
	last := passOn(said, app.Stderr)
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return drift.Asked{}, err
	}
	var report struct {
		Agents []struct {
			Problem string           `json:"problem"`
			Rows    []recordings.Row `json:"checks"`
		} `json:"agents"`
	}
	if json.Unmarshal(out.Bytes(), &report) != nil || len(report.Agents) != 1 {
		return drift.Asked{}, fmt.Errorf("hookmux verify %s printed no report (%w): %s", program, err, last)
	}
	asked := drift.Asked{Rows: report.Agents[0].Rows, Problem: report.Agents[0].Problem}
	if _, err := os.Stat(record); err != nil && asked.Problem == "" {
		asked.Note = last
	}
	return asked, nil
}

// passOn copies lines as they arrive and returns the last one.
func passOn(from io.Reader, to io.Writer) (last string) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		last = lines.Text()
		fmt.Fprintln(to, "  "+last)
	}
	return last
}
