package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// setupSteps are the names --skip takes, in their order.
var setupSteps = []string{"install", "guards", "limits", "tmux", "verify", "waits"}

// setupCommand is `hookmux setup`.
func setupCommand(app *cmdutil.App) *cobra.Command {
	var yes bool
	var skip []string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Hook your agents and turn on guards",
		Long: `Walks you through the first steps: installs hooks for the agents it finds
(install), turns on the guards against destructive commands and leaked secrets
(guards), learns your plan's limits from Claude Code's status line (limits), shows
agents in tmux (tmux), runs a self-test with one of your agents against a scripted
model (verify), and asks how long Codex may wait for your answer (waits).

Every step shows the command it runs and asks first. Enter means yes, or keeps a
default. Each step names the command that undoes it.`,
		Example: "  hookmux setup\n  hookmux setup --yes --skip verify   # for scripts",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range skip {
				if !slices.Contains(setupSteps, name) {
					return cmdutil.UnknownName("step", name, setupSteps, "")
				}
			}
			if !yes && !app.IsTerminal() {
				return cmdutil.UsageError("setup asks before each step; run it in a terminal, or add --yes")
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
	app.Say("Found: %s", agents.DescribeHookStates(states))
	if len(states) == 0 {
		return errors.New("no coding agent found on this machine; install one, then run `hookmux setup` again")
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
		if why, ok := runStep(app, step.command, step.yesFlag()...); ok {
			done = append(done, line)
		} else {
			failed = append(failed, line+why)
		}
		if ctx.Err() != nil {
			return cmdutil.FailWith(cmdutil.ExitFailed, "interrupted")
		}
	}
	if !yes && !slices.Contains(skip, "waits") {
		set, err := askWaits(app, states)
		if err != nil {
			return err
		}
		done = append(done, set...)
	}
	return sayScore(app, done, left, failed)
}

// runStep runs a command of hookmux's as if it had been typed, and returns why it failed.
func runStep(app *cmdutil.App, command []string, flags ...string) (why string, ok bool) {
	app.Say("\n$ hookmux %s", strings.Join(command, " "))
	inner, said := *app, &lastLine{to: app.Stderr}
	inner.Args, inner.Stderr = append(slices.Clone(command), flags...), said
	return said.reason(), runCommandLine(&inner) == cmdutil.ExitOK
}

// askStep asks whether to do a step; Enter means yes. d shows what a step that changes files
// would write.
func askStep(app *cmdutil.App, step *setupStep) (wanted bool, err error) {
	fmt.Fprintf(app.Stdout, "\n%s\n  hookmux %s\n", text.Wrap(step.question, app.Columns(), 0),
		strings.Join(step.command, " "))
	choices := "[Y/n]"
	if step.writesFiles() {
		choices = "[Y/n, d: show the changes]"
	}
	for {
		fmt.Fprintf(app.Stdout, "Do it? %s ", choices)
		word, err := app.ReadWord()
		switch {
		case err != nil:
			return false, err
		case word == "" || word == "y" || word == "yes":
			return true, nil
		case word == "d" && step.writesFiles():
			inner := *app
			inner.Args = append(slices.Clone(step.command), "--dry-run")
			runCommandLine(&inner)
		case word == "n" || word == "no" || app.InputEnded(word):
			return false, nil
		default:
			if step.writesFiles() {
				app.Say("Please answer y, n or d.")
			} else {
				app.Say("Please answer y or n.")
			}
		}
	}
}

// isWaitChosen reports whether the user set how long an agent waits for an answer.
func isWaitChosen(app *cmdutil.App, agent string) bool {
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

// askWaits asks how long agents that hide their own prompt in the meantime may wait for an
// answer, and returns the commands that set it.
func askWaits(app *cmdutil.App, states []agents.HookState) (done []string, err error) {
	c, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	for _, s := range states {
		a, ok := c.Agent(s.Agent)
		if !ok || a.BriefWait() == "" || isWaitChosen(app, a.Name) {
			continue
		}
		key := config.InboxWait + "." + a.Name
		fmt.Fprintf(app.Stdout, "\n%s\n", text.Wrap(a.BriefWait()+". `hookmux config unset "+key+
			"` goes back to this.", app.Columns(), 0))
		for {
			fmt.Fprint(app.Stdout, "How long may it wait? [Enter: keep this, or a time such as 2m] ")
			word, err := app.ReadWord()
			if err != nil {
				return done, err
			}
			if word == "" || strings.EqualFold(word, "n") || strings.EqualFold(word, "no") || app.InputEnded(word) {
				break
			}
			if _, err := config.ParseSpan(word); err != nil {
				fmt.Fprintf(app.Stdout, "%q isn't a time; write one such as 2m, or press Enter\n", word)
				continue
			}
			command := []string{"config", "set", key, word}
			if _, ok := runStep(app, command); ok {
				done = append(done, "hookmux "+strings.Join(command, " "))
				break
			}
		}
	}
	return done, nil
}

// writesFiles reports whether the step changes files of others, shows them with
// --dry-run, and asks.
func (s *setupStep) writesFiles() bool {
	return slices.Contains([]string{"install", "limits", "tmux"}, s.name)
}

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
	steps := []setupStep{{"install", "Install hooks for " + strings.Join(names, ", ") +
		". `hookmux uninstall` restores your files byte for byte.",
		append([]string{"install"}, names...)}}
	for _, g := range [][2]string{
		{"destructive", "Block commands that destroy what you can't get back, in every agent. `hookmux guard off destructive` turns it off."},
		{"secrets", "Keep agents from reading or sending keys and tokens. `hookmux guard off secrets` turns it off."},
	} {
		steps = append(steps, setupStep{"guards", g[1], []string{"guard", "on", g[0]}})
	}
	if hasStatusLine(names) {
		steps = append(steps, setupStep{"limits", "Show how much of your plan is left. Claude Code only passes this to its status line, so hookmux " +
			"becomes the status line and still shows yours. `hookmux usage statusline uninstall` undoes it.",
			[]string{"usage", "statusline", "install"}})
	}
	if paths.OnPath("tmux", app.Getenv("PATH")) != "" {
		steps = append(steps, setupStep{"tmux", "Show in tmux what each agent is doing. `hookmux tmux uninstall` " +
			"undoes it.", []string{"tmux", "install"}})
	}
	if proof != "" && agents.FindLab(app) != "" {
		steps = append(steps, setupStep{"verify", "Test that a block really stops " + proof +
			". It runs in a temporary home against a scripted model: no account, no tokens.",
			[]string{"verify", proof, "--check", "deny"}})
	}
	return steps
}

// hasStatusLine reports whether one of the agents says its limits to its status line only.
func hasStatusLine(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		a, ok := agent.Builtin().Agent(name)
		return ok && a.Usage != nil && a.Usage.StatusLine != ""
	})
}

// sayScore returns the verdict: what was done, what was left, what went wrong.
func sayScore(app *cmdutil.App, done, left, failed []string) error {
	app.Say("")
	for _, part := range []struct {
		mark  string
		lines []string
	}{{"✓ done   ", done}, {"– skipped", left}, {"✗ failed ", failed}} {
		for _, line := range part.lines {
			app.Say("%s", text.Wrap(part.mark+"  "+line, app.Columns(), 4))
		}
	}
	if len(failed) > 0 {
		app.Say("Run the failed commands again once that's fixed.")
		if len(done) > 0 {
			app.Say("Next: start an agent as usual, then run `hookmux`.")
		}
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	if len(done) == 0 {
		app.Say("Nothing was changed. Run `hookmux setup` again, or the commands above one by one.")
		return nil
	}
	app.Say("All set. Start an agent as usual, then run `hookmux` to see what it's doing and answer it.")
	return nil
}

// lastLine passes on what a step writes to stderr, and remembers its last line: why it failed.
type lastLine struct {
	to   io.Writer
	last string
}

func (l *lastLine) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" {
			l.last = strings.TrimPrefix(line, "hookmux: ")
		}
	}
	return l.to.Write(b)
}

// reason returns why the step failed, after a colon.
func (l *lastLine) reason() string {
	if l.last == "" {
		return ""
	}
	return ": " + l.last
}
