package usagecmd

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/statusline"
	"github.com/hookmux/hookmux/internal/wire"
)

func statuslineInstallCommand(app *cmdutil.App) *cobra.Command {
	return statuslineChange(app, "install", "Make hookmux Claude Code's status line, with your own behind it",
		"hookmux is Claude Code's status line; undo: hookmux usage statusline uninstall", "Write this?",
		func(settings []byte) ([]byte, []install.Step, error) {
			dirs, err := app.Dirs()
			if err != nil {
				return nil, nil, err
			}
			self, err := os.Executable()
			if err != nil {
				return nil, nil, err
			}
			program, copies := install.ShimForTmux(dirs, self)
			changed, err := statusline.Add(settings, program)
			return changed, copies, err
		})
}

func statuslineUninstallCommand(app *cmdutil.App) *cobra.Command {
	return statuslineChange(app, "uninstall", "Give Claude Code its own status line back",
		"Claude Code has its own status line again", "Remove this?",
		func(settings []byte) ([]byte, []install.Step, error) {
			changed, _, err := statusline.Remove(settings)
			return changed, nil, err
		})
}

// statuslineChange returns a command that changes the agents' settings, shown before.
func statuslineChange(app *cmdutil.App, use, short, done, question string,
	change func(settings []byte) ([]byte, []install.Step, error)) *cobra.Command {
	var f agents.InstallFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Example: "  hookmux usage statusline " + use + "\n  hookmux usage statusline " + use + " --dry-run",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			steps, err := statuslineSteps(app, change)
			if err != nil {
				return err
			}
			if len(steps) == 0 {
				app.Say("nothing to change")
				return nil
			}
			if err := mayChange(cmd.Context(), app, &f); err != nil {
				return err
			}
			written, err := agents.ShowAndWrite(app, steps, nil, &f, question)
			if err == nil && written {
				app.Say("%s", done)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, "don't ask")
	return cmd
}

func mayChange(ctx context.Context, app *cmdutil.App, f *agents.InstallFlags) error {
	if f.DryRun {
		return nil
	}
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	return agents.UserOnly(ctx, app, c, wire.MethodInstall, false)
}

// statuslineSteps returns the changes of the settings of every agent that passes its limits
// to its status line.
func statuslineSteps(app *cmdutil.App, change func(settings []byte) ([]byte, []install.Step, error)) ([]install.Step, error) {
	var steps []install.Step
	for _, path := range agents.StatusLineFiles(app, agent.Builtin().Agents()) {
		settings, err := userfile.ReadFile(path, userfile.MaxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		changed, before, err := change(settings)
		if err != nil {
			return nil, errors.Join(errors.New(path), err)
		}
		if string(changed) != string(settings) {
			steps = append(append(steps, before...), install.Step{Op: install.OpWrite, Path: path, Old: settings, New: changed})
		}
	}
	return steps, nil
}
