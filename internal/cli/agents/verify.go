package agents

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Lab is the program that tests agents. Releases ship it next to hookmux.
const Lab = "hookmux-lab"

// Flags are the flags of the command.
type Flags struct {
	JSON, Mine, Keep, List, Newest bool
	Record                         string
	Checks                         []string
}

// Command is `hookmux verify`; run gets the agents named and the flags.
func Command(run func(ctx context.Context, names []string, f *Flags) error) *cobra.Command {
	var f Flags
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
  hookmux verify claude codex --json   # print JSON
  hookmux verify claude --mine         # with a copy of your own config
  hookmux verify claude --keep         # keep the captures, for a bug report
  hookmux verify codex --check PreToolUse.deny
  hookmux verify --newest              # did a new release change its hooks?`,
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, name := range names {
				if strings.ContainsRune(name, filepath.Separator) {
					continue
				}
				if _, known := agent.Builtin().Agent(name); !known && !f.Newest {
					return cmdutil.UnknownAgent(agent.Builtin(), name)
				}
			}
			return run(cmd.Context(), names, &f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.JSON, "json", false, "print JSON")
	flags.BoolVar(&f.Mine, "mine", false, "use a copy of your own config of the agent, without credentials; your "+
		"hooks run")
	flags.BoolVar(&f.Keep, "keep", false, "keep everything that was captured, and say where")
	flags.StringVar(&f.Record, "record", "", "write events and summary, scrubbed, into this folder")
	flags.StringArrayVar(&f.Checks, "check", nil, "only this: a check (deny), an event (PreToolUse) or both "+
		"(PreToolUse.deny); repeatable")
	flags.BoolVar(&f.Newest, "newest", false, "test the latest releases from npm instead of yours")
	flags.BoolVar(&f.List, "list", false, "list the checks and what each one tests")
	return cmd
}

// ThroughLab is `hookmux verify` as a command of hookmux: hookmux-lab runs with the same
// arguments, and its exit code is the command's.
func ThroughLab(app *cmdutil.App) *cobra.Command {
	return Command(func(ctx context.Context, _ []string, _ *Flags) error {
		lab := FindLab(app)
		if lab == "" {
			return cmdutil.FailWith(cmdutil.ExitNotFound, "`hookmux verify` needs "+Lab+", which isn't installed here; it's "+
				"in every release: put it in the same directory as hookmux, or run `make build` in a clone")
		}
		cmd := exec.CommandContext(ctx, lab, app.Args...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = app.Environ, app.Stdin, app.Stdout, app.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it cleans up
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.Exited() {
			return cmdutil.Exit(exit.ExitCode())
		}
		return err
	})
}

// FindLab returns the path of hookmux-lab: next to this program or on PATH. It's empty if
// there is none.
func FindLab(app *cmdutil.App) string {
	if self, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			self = resolved
		}
		if beside := filepath.Join(filepath.Dir(self), Lab); paths.Runnable(beside) {
			return beside
		}
	}
	return paths.OnPath(Lab, app.Getenv("PATH"))
}
