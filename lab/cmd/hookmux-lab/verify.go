package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/lab/verify"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/isolate"
	"github.com/hookmux/hookmux/lab/verify/ownconfig"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

func listChecks(app *cmdutil.App, asJSON bool) error {
	if asJSON {
		type row struct {
			ID       string `json:"id"`
			Proves   string `json:"proves"`
			Breakage string `json:"saboteur"`
		}
		var rows []row
		for _, c := range checks.All() {
			rows = append(rows, row{c.ID, c.Proves, c.Breakage.What})
		}
		return app.PrintJSON(rows)
	}
	var rows [][]string
	for _, c := range checks.All() {
		row := []string{c.ID, c.Proves}
		if len(rows) == 0 || !slices.Equal(rows[len(rows)-1], row) { // one check may be asked in two ways
			rows = append(rows, row)
		}
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}

func verifyAgents(ctx context.Context, app *cmdutil.App, names []string, f *agents.Flags) error {
	if err := verify.KnowsChecks(f.Checks); err != nil {
		return cmdutil.UsageError("%v", err)
	}
	if f.Record != "" && len(f.Checks) > 0 {
		return cmdutil.UsageError("--record: a record of some checks would pass for one of all; leave --check out")
	}
	isolation := isolate.InNamespace
	if isolate.Inside(app.Getenv) {
		if err := isolate.Enter(); err != nil {
			return err
		}
	} else {
		// Unknown names are reported before anything is started.
		if _, err := verifyTargets(app, names); err != nil {
			return err
		}
		second := isolate.StartAgain(app.Args, app.Environ)
		if second.Ran {
			if second.Code != cmdutil.ExitOK {
				return cmdutil.Exit(second.Code)
			}
			return nil
		}
		isolation = isolate.BehindProxies + " (" + second.Why + ")"
	}
	targets, err := verifyTargets(app, names)
	if err != nil {
		return err
	}
	bin, err := programFolder(app)
	if err != nil {
		return err
	}
	bin, drop, err := programsOfNoInstallation(app, bin)
	if err != nil {
		return err
	}
	defer drop()
	o := verify.Options{
		Targets: targets, Bin: bin, Checks: f.Checks, Keep: f.Keep, Record: f.Record,
		Isolation: isolation,
		Progress:  func(line string) { fmt.Fprintln(app.Stderr, termsafe.Text(line)) },
	}
	if f.Mine {
		dirs, err := app.Dirs()
		if err != nil {
			return err
		}
		o.Mine = &ownconfig.Config{Home: dirs.Home, Project: app.Cwd(), Getenv: app.Getenv}
	}
	report, err := verify.Run(ctx, o)
	if ctx.Err() != nil {
		said := "interrupted; what was started has been ended, what was laid out removed"
		if report != nil && report.Kept != "" {
			said = "interrupted; what was started has been ended; what was seen so far is in " + report.Kept
		}
		return cmdutil.FailWith(cmdutil.ExitFailed, said)
	}
	unrecorded := err // what was seen is reported all the same
	if err != nil && (report == nil || f.Record == "") {
		return err
	}
	if f.JSON {
		err = app.PrintJSON(report)
	} else {
		report.Text(app.Stdout, app.Style().Color)
	}
	if err == nil && unrecorded != nil {
		return unrecorded
	}
	if err == nil && report.Failed() {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

// verifyTargets finds the programs. Without names every agent that is there.
func verifyTargets(app *cmdutil.App, names []string) ([]verify.Target, error) {
	var out []verify.Target
	if len(names) == 0 {
		for _, name := range drivers.Names() {
			t, err := verifyTarget(app, name)
			if errors.Is(err, launch.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
		if len(out) == 0 {
			return nil, cmdutil.FailWith(cmdutil.ExitNotFound, "none of the agents that can be tested is on PATH ("+
				strings.Join(drivers.Names(), ", ")+"); install one, or name its program: `hookmux verify /path/to/claude`")
		}
		return out, nil
	}
	for _, name := range names {
		t, err := verifyTarget(app, name)
		if errors.Is(err, launch.ErrNotFound) {
			return nil, cmdutil.FailWith(cmdutil.ExitNotFound, err.Error())
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(had verify.Target) bool {
			return had.Name == t.Name &&
				slices.Equal(had.In.Argv, t.In.Argv)
		}) {
			continue // named twice
		}
		out = append(out, t)
	}
	return out, nil
}

func verifyTarget(app *cmdutil.App, name string) (verify.Target, error) {
	program := ""
	if strings.ContainsRune(name, filepath.Separator) {
		program, name = name, filepath.Base(name)
	}
	if a, ok := agent.Builtin().Agent(name); ok {
		name = a.Name
	}
	driver, ok := drivers.Find(name)
	if !ok {
		if _, known := agent.Builtin().Agent(name); !known {
			return verify.Target{}, cmdutil.UnknownAgent(agent.Builtin(), name)
		}
		return verify.Target{}, cmdutil.UsageError("`hookmux verify` can't test %s yet, only %s", name,
			strings.Join(drivers.Names(), ", "))
	}
	if program == "" {
		program = driver.Program
	}
	self, err := os.Executable()
	if err != nil {
		return verify.Target{}, err
	}
	found, err := launch.Find(launch.Search{Agent: name, Program: program, Path: app.Getenv("PATH"), Self: self})
	if err != nil {
		return verify.Target{}, err
	}
	resolved, err := filepath.EvalSymlinks(found.Program)
	if err != nil {
		return verify.Target{}, err
	}
	return verify.Target{Name: name, In: realagents.Installed{Name: name, Dir: filepath.Dir(resolved),
		Argv: []string{found.Program}}}, nil
}

// programFolder returns the folder of hookmux and hookmux-hook: this program's own, or the one
// that PATH leads to.
func programFolder(app *cmdutil.App) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	hook, err := launch.HookPath(self)
	if err != nil {
		if on := paths.OnPath("hookmux", app.Getenv("PATH")); on != "" {
			hook, err = launch.HookPath(on)
		}
	}
	return filepath.Dir(hook), err
}

// programsOfNoInstallation returns the folder of both programs for a throw-away home.
// Installed ones always go to their own daemon, so copies are made of those.
func programsOfNoInstallation(app *cmdutil.App, bin string) (dir string, drop func(), err error) {
	dirs, err := app.Dirs()
	if err != nil || dirs.Installation() == nil {
		return bin, func() {}, err
	}
	if dir, err = os.MkdirTemp("", "hookmux-verify-"); err != nil {
		return "", nil, err
	}
	drop = func() { _ = os.RemoveAll(dir) }
	for _, name := range []string{"hookmux", "hookmux-hook"} {
		if err := testbed.CopyFile(filepath.Join(bin, name), filepath.Join(dir, name)); err != nil {
			drop()
			return "", nil, err
		}
	}
	return dir, drop, nil
}
