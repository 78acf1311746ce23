package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// setupSteps are the names --skip takes, in their order.
var setupSteps = []string{"install", "guards", "tmux", "verify"}

// setupCommand is `hookmux setup`.
func setupCommand(app *cmdutil.App) *cobra.Command {
	var yes bool
	var skip []string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "First steps: hook agents, switch guards on, show them in tmux, prove it",
		Long: `Goes through the first steps one by one: which agents are here, hooks into their
config (install), the guards against destructive commands and for secrets (guards),
signs in tmux (tmux), and one proof with a real agent and a scripted model (verify).
Each step says what it runs and asks first; no is always possible, and each can be
undone by the command it names.`,
		Example: "  hookmux setup\n  hookmux setup --yes --skip verify   # for scripts",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range skip {
				if !slices.Contains(setupSteps, name) {
					return cmdutil.UsageError("--skip %s: there are %s", name, strings.Join(setupSteps, ", "))
				}
			}
			if !yes && !app.IsTerminal() {
				return cmdutil.UsageError("setup asks before each step: run it in a terminal, or add --yes")
			}
			return runSetup(cmd.Context(), app, yes, skip)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do every step without asking")
	cmd.Flags().StringSliceVar(&skip, "skip", nil, "leave these steps out: "+strings.Join(setupSteps, ", "))
	return cmd
}

// setupStep is a question and the command that a yes runs.
type setupStep struct {
	name, question string
	command        []string
}

func runSetup(ctx context.Context, app *cmdutil.App, yes bool, skip []string) error {
	states, err := agents.HookStates(app)
	if err != nil {
		return err
	}
	app.Say("agents    %s", agents.DescribeHookStates(states))
	if len(states) == 0 {
		return errors.New("no agent was found on PATH or by its config; install one, then run `hookmux setup` again")
	}
	var done, left, failed []string
	for _, step := range planSetup(app, states) {
		line := "hookmux " + strings.Join(step.command, " ")
		if slices.Contains(skip, step.name) {
			left = append(left, line)
			continue
		}
		if !yes {
			if wanted, err := askStep(app, &step); err != nil {
				return err
			} else if !wanted {
				left = append(left, line)
				continue
			}
		}
		app.Say("\n$ %s", line)
		inner := *app
		inner.Args = append(slices.Clone(step.command), step.yesFlag()...)
		if runCommandLine(&inner) != cmdutil.ExitOK {
			failed = append(failed, line)
		} else {
			done = append(done, line)
		}
		if ctx.Err() != nil {
			return cmdutil.FailWith(cmdutil.ExitFailed, "interrupted")
		}
	}
	if err := sayScore(app, done, left, failed); err != nil || len(done) == 0 {
		return err
	}
	return sayBriefHolds(app, states)
}

// askStep asks whether to do a step. Of one that changes files it shows what changes
// to whoever wants to see it.
func askStep(app *cmdutil.App, step *setupStep) (wanted bool, err error) {
	fmt.Fprintf(app.Stdout, "\n%s\n  hookmux %s\n", text.Wrap(step.question, app.Columns(), 0),
		strings.Join(step.command, " "))
	choices := "[y/N]"
	if step.writesFiles() {
		choices = "[y/N, d shows what changes]"
	}
	for {
		fmt.Fprintf(app.Stdout, "do it? %s ", choices)
		word, err := app.ReadWord()
		switch {
		case err != nil:
			return false, err
		case word == "y" || word == "yes":
			return true, nil
		case word == "d" && step.writesFiles():
			inner := *app
			inner.Args = append(slices.Clone(step.command), "--dry-run")
			runCommandLine(&inner)
		default:
			return false, nil
		}
	}
}

// isHoldChosen reports whether the person set how long an agent waits for an answer.
func isHoldChosen(app *cmdutil.App, agent string) bool {
	c, err := app.RunningDaemon()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmdutil.DaemonWait)
	defer cancel()
	var settings []wire.Setting
	key := config.InboxWait + "." + agent
	return c.Call(ctx, wire.MethodConfigGet, wire.ConfigListParams{}, &settings) == nil &&
		slices.ContainsFunc(settings, func(s wire.Setting) bool { return s.Key == key && !s.Default })
}

// sayBriefHolds says how long agents wait for an answer from here that hide their own
// prompt meanwhile.
func sayBriefHolds(app *cmdutil.App, states []agents.HookState) error {
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	for _, s := range states {
		if a, ok := c.Agent(s.Agent); ok && a.BriefHold() != "" && !isHoldChosen(app, a.Name) {
			app.Say("%s", text.Wrap(a.BriefHold(), app.Columns(), 0))
		}
	}
	return nil
}

// writesFiles reports whether the step changes files of others, shows them with
// --dry-run, and asks.
func (s *setupStep) writesFiles() bool { return s.name == "install" || s.name == "tmux" }

// yesFlag keeps a command from asking what was answered already.
func (s *setupStep) yesFlag() []string {
	if s.writesFiles() {
		return []string{"--yes"}
	}
	return nil
}

// planSetup lists what there is to do here.
func planSetup(app *cmdutil.App, states []agents.HookState) []setupStep {
	var names []string
	proof := ""
	for _, s := range states {
		names = append(names, s.Agent)
		if proof == "" && s.Program != "" {
			proof = s.Agent
		}
	}
	steps := []setupStep{{"install", "Hooks go into the config of " + strings.Join(names, ", ") +
		"; `hookmux uninstall` gives back the same bytes.",
		append([]string{"install"}, names...)}}
	for _, g := range [][2]string{
		{"destructive", "Stop commands that destroy what cannot be brought back, on every agent; `hookmux guard off destructive` undoes it."},
		{"secrets", "Keep agents from reading and printing secrets; `hookmux guard off secrets` undoes it."},
	} {
		steps = append(steps, setupStep{"guards", g[1], []string{"guard", "on", g[0]}})
	}
	if paths.OnPath("tmux", app.Getenv("PATH")) != "" {
		steps = append(steps, setupStep{"tmux", "Show in tmux what the agent in each window does; `hookmux tmux " +
			"uninstall` undoes it.", []string{"tmux", "install"}})
	}
	if proof != "" {
		steps = append(steps, setupStep{"verify", "Prove that a refusal stops " + proof +
			": it runs in a throw-away home against a scripted model; no account, no tokens.",
			[]string{"verify", proof, "--check", "deny"}})
	}
	return steps
}

// sayScore is the verdict: what was done, what was left, what went wrong.
func sayScore(app *cmdutil.App, done, left, failed []string) error {
	app.Say("")
	for _, part := range []struct {
		mark  string
		lines []string
	}{{"✓ done   ", done}, {"– left   ", left}, {"✗ failed ", failed}} {
		for _, line := range part.lines {
			app.Say("%s  %s", part.mark, line)
		}
	}
	if len(failed) > 0 {
		app.Say("not everything worked; `hookmux doctor` says what is wrong")
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	if len(done) == 0 {
		app.Say("nothing was changed; run `hookmux setup` again, or the commands above one by one")
		return nil
	}
	app.Say("ready: start an agent as usual; `hookmux up` shows what it does and asks, and answers it by key")
	return nil
}
