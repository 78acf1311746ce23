package runcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/tmux"
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
waiting longest, and one that opens the live view in a popup. Without a command, shows
whether that's set up.`,
		Example: "  hookmux tmux install\n  hookmux tmux status\n  hookmux tmux uninstall",
		Args:    cmdutil.SubcommandArgs,
	}
	status := tmuxStatusCommand(app)
	cmd.RunE = status.RunE
	cmd.Flags().AddFlagSet(status.Flags())
	cmd.AddCommand(tmuxInstallCommand(app), tmuxUninstallCommand(app), status)
	return cmd
}

// mayChangeTmux rejects agents: the settings of the user's tmux aren't theirs to change.
func mayChangeTmux(ctx context.Context, app *cmdutil.App, f *agents.InstallFlags) error {
	if f.DryRun {
		return nil
	}
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	return agents.UserOnly(ctx, app, c, wire.MethodTmux, false)
}

// readConf returns nil for a file that doesn't exist.
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

// tmuxSteps returns what an installation does to files: hookmux's own first, so that the
// line never reads a file that doesn't exist.
func tmuxSteps(own string, ownText []byte, conf string, text []byte) ([]install.Step, error) {
	was, err := readConf(own)
	if err != nil {
		return nil, err
	}
	var changes []install.Step
	if !bytes.Equal(was, ownText) {
		changes = append(changes, install.Step{Op: install.OpWrite, Path: own, Old: was, New: ownText})
	}
	if now := tmux.AddLine(text, own); !bytes.Equal(now, text) {
		changes = append(changes, install.Step{Op: install.OpWrite, Path: conf, Old: text, New: now})
	}
	return changes, nil
}

// setFollow has the daemon keep icons and names current, or not; nil keeps what holds
// without a setting.
func setFollow(ctx context.Context, app *cmdutil.App, value json.RawMessage) error {
	return app.CallDaemon(ctx, wire.MethodConfigSet, wire.ConfigSetParams{Key: config.TmuxFollow, Value: value}, nil)
}
