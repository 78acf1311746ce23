package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/verify"
	"github.com/hookmux/hookmux/internal/verify/agents"
	"github.com/hookmux/hookmux/internal/verify/checks"
	"github.com/hookmux/hookmux/internal/verify/drivers"
	"github.com/hookmux/hookmux/internal/verify/isolate"
	"github.com/hookmux/hookmux/internal/verify/ownconfig"
	"github.com/hookmux/hookmux/internal/verify/testbed"
)

type verifyFlags struct {
	json, mine, keep, list, newest bool
	record                         string
	checks                         []string
}

// VerifyCommand is `hookmux verify`.
func VerifyCommand(app *cmdutil.App) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [AGENT…]",
		Short: "Test with your own agents that hooks really work",
		Long: `Runs your agents against a scripted model in a temporary home and watches what
really happens: does a block stop the tool, does the model see the reason, does a
changed command run, do events arrive? No account, no tokens, and none of your
files are touched.

✓ works, ✗ doesn't work, – couldn't be tested (the report says why). Each ✗ comes
with what was seen, the likely cause, and the command to run next. Exits 1 if
something hookmux says about an agent isn't true.

AGENT is a name or the path of the agent's program; by default every agent on PATH
is tested.

--newest tests the latest release from npm instead of your version and reports what
changed. Already-tested releases are skipped unless you name the agent.`,
		Example: `  hookmux verify                       # every agent found here
  hookmux verify claude codex --json   # for programs
  hookmux verify claude --mine         # with a copy of your own config
  hookmux verify claude --keep         # keep what was captured, for a bug report
  hookmux verify codex --check PreToolUse.deny
  hookmux verify --newest              # did a new release change its hooks?`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return listChecks(app, f.json)
			}
			if f.newest {
				return verifyNewest(cmd.Context(), app, args, &f)
			}
			return verifyAgents(cmd.Context(), app, args, &f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.mine, "mine", false, "use a copy of your own config of the agent, without credentials; your "+
		"hooks run")
	flags.BoolVar(&f.keep, "keep", false, "keep everything that was captured, and say where")
	flags.StringVar(&f.record, "record", "", "write events and summary, scrubbed, into this folder")
	flags.StringArrayVar(&f.checks, "check", nil, "only this: a check (deny), an event (PreToolUse) or both "+
		"(PreToolUse.deny); repeatable")
	flags.BoolVar(&f.newest, "newest", false, "test the latest releases from npm instead of yours")
	flags.BoolVar(&f.list, "list", false, "list the checks and what each one tests")
	return cmd
}

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
	for _, c := range checks.All() {
		app.Say("%-18s %s", c.ID, c.Proves)
	}
	return nil
}

func verifyAgents(ctx context.Context, app *cmdutil.App, names []string, f *verifyFlags) error {
	if err := verify.KnowsChecks(f.checks); err != nil {
		return cmdutil.UsageError("%v", err)
	}
	if f.record != "" && len(f.checks) > 0 {
		return cmdutil.UsageError("--record: a record of some checks would pass for one of all; leave --check out")
	}
	isolation := isolate.InNamespace
	if isolate.Inside(app.Getenv) {
		if err := isolate.Enter(); err != nil {
			return err
		}
	} else {
		// Unknown names are told before anything is started.
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
	_, hook, err := ownPrograms()
	if err != nil {
		return err
	}
	bin, drop, err := programsOfNoInstallation(app, filepath.Dir(hook))
	if err != nil {
		return err
	}
	defer drop()
	o := verify.Options{
		Targets: targets, Bin: bin, Checks: f.checks, Keep: f.keep, Record: f.record,
		Isolation: isolation,
		Progress:  func(line string) { fmt.Fprintln(app.Stderr, termsafe.Text(line)) },
	}
	if f.mine {
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
	unrecorded := err // what was seen is told all the same
	if err != nil && (report == nil || f.record == "") {
		return err
	}
	if f.json {
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
			return nil, cmdutil.FailWith(cmdutil.ExitNotFound, "none of the agents hookmux can ask is on PATH ("+
				strings.Join(drivers.Names(), ", ")+"); give the path of one")
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
	return verify.Target{Name: name, In: agents.Installed{Name: name, Dir: filepath.Dir(resolved),
		Argv: []string{found.Program}}}, nil
}

// programsOfNoInstallation is the folder of both programs for a throw-away home.
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
