package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/steps"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/tmux"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

// TmuxCommand is `hookmux tmux`.
func TmuxCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tmux",
		Short: "Show agents in tmux: icons, window names, keys",
		Long: `Shows in tmux what the agent in each window is doing: an icon after the window's
name, the session's title as the name, a key that jumps to the agent that has been
waiting longest, and one that opens the live view in a popup.`,
		Example: "  hookmux tmux install\n  hookmux tmux status\n  hookmux tmux uninstall",
		Args:    cmdutil.SubcommandArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(tmuxInstallCommand(app), tmuxUninstallCommand(app), tmuxStatusCommand(app))
	return cmd
}

// mayChangeTmux refuses agents: the settings of a person's tmux are not theirs to
// change.
func mayChangeTmux(ctx context.Context, app *cmdutil.App, f *installFlags) error {
	if f.dryRun {
		return nil
	}
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	return personOnly(ctx, app, c, wire.MethodTmux, false)
}

// readConf gives nil for a file that is not there.
func readConf(path string) ([]byte, error) {
	text, err := userfile.ReadFile(path, userfile.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// tmuxSteps are what an installation does to files: our own first, so that the
// line never reads what is not there.
func tmuxSteps(own string, ownText []byte, conf string, text []byte) ([]steps.Step, error) {
	was, err := readConf(own)
	if err != nil {
		return nil, err
	}
	var changes []steps.Step
	if !bytes.Equal(was, ownText) {
		changes = append(changes, steps.Step{Op: steps.OpWrite, Path: own, Old: was, New: ownText})
	}
	if now := tmux.AddLine(text, own); !bytes.Equal(now, text) {
		changes = append(changes, steps.Step{Op: steps.OpWrite, Path: conf, Old: text, New: now})
	}
	return changes, nil
}

// tmuxCarry shows steps, asks and does them.
func tmuxCarry(app *cmdutil.App, dirs paths.Dirs, changes []steps.Step, notes []string, f *installFlags,
	question string) (bool, error) {
	if err := steps.Run(changes, &steps.Diff{Out: app.Stdout, Color: app.Style().Color, Home: dirs.Home,
		Full: true}); err != nil {
		return false, err
	}
	for _, n := range notes {
		app.Say("note: %s", termsafe.Text(n))
	}
	if f.dryRun {
		app.Say("dry run, nothing written; %s", countFiles((&install.Plan{Steps: changes}).Files()))
		return false, nil
	}
	if len(changes) > 0 {
		if err := confirmPlan(app, &install.Plan{}, f, question, false); err != nil {
			return false, err
		}
	}
	return true, steps.Run(changes, &steps.Disk{})
}

// setFollow has the daemon keep icons and names current, or not; nil is what holds
// without a setting.
func setFollow(ctx context.Context, app *cmdutil.App, value json.RawMessage) error {
	return app.CallDaemon(ctx, wire.MethodConfigSet, wire.ConfigSetParams{Key: config.TmuxFollow, Value: value}, nil)
}
