package runcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/spf13/cobra"
)

func tmuxInstallCommand(app *cmdutil.App) *cobra.Command {
	var f agents.InstallFlags
	keys := tmux.DefaultKeys
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Add hookmux to your tmux.conf and to the running tmux",
		Long: `Adds one line to the end of your tmux.conf that loads hookmux's own file, and loads
it into a running tmux. You see the changes first. Windows you named yourself keep
their name; the others get theirs back when the agent is gone. A key that's already
bound is left alone.`,
		Example: "  hookmux tmux install\n  hookmux tmux install --dry-run\n  hookmux tmux install --jump-key C-n " +
			"--popup-key none",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return tmuxInstall(cmd.Context(), app, &f, keys) },
	}
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "show what would change without changing it")
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, "don't ask")
	cmd.Flags().StringVar(&keys.Jump, "jump-key", keys.Jump,
		"key after the prefix for hookmux jump --next, or none")
	cmd.Flags().StringVar(&keys.Popup, "popup-key", keys.Popup, "key after the prefix for the popup, or none")
	return cmd
}

func tmuxInstall(ctx context.Context, app *cmdutil.App, f *agents.InstallFlags, keys tmux.Keys) error {
	for _, key := range []*string{&keys.Jump, &keys.Popup} {
		if *key == "none" {
			*key = ""
		} else if !tmux.ValidKey(*key) {
			return cmdutil.UsageError("%q isn't a key; write one as tmux does: N, C-n, M-x, F5", *key)
		}
	}
	if keys.Jump != "" && keys.Jump == keys.Popup {
		return cmdutil.UsageError("--jump-key and --popup-key are both %s", keys.Jump)
	}
	if err := mayChangeTmux(ctx, app, f); err != nil {
		return err
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	server := tmux.FromEnv(app.Getenv)
	if !server.Available() {
		return tmux.ErrNoTmux
	}
	conf := tmux.ConfPath(dirs.Home, app.Getenv)
	text, err := readConf(conf)
	if err != nil {
		return err
	}
	running := server.Running(ctx)
	notes := freeKeys(ctx, server, running, text, &keys)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program, copies := install.ShimForTmux(dirs, program)
	major, minor := server.Version(ctx)
	own := tmux.OwnConf(dirs.Data)
	changes, err := tmuxSteps(own, tmux.Conf(onPathName(program, app.Getenv("PATH")), keys, major, minor), conf, text)
	if err != nil {
		return err
	}
	done, err := agents.ShowAndWrite(app, append(copies, changes...), notes, f, "Write this?")
	if err != nil || !done {
		return err
	}
	if running {
		if err := server.Load(ctx, own); err != nil {
			return err
		}
	}
	if err := setFollow(ctx, app, json.RawMessage(`"on"`)); err != nil {
		return fmt.Errorf("the files are written, but %s is still off: %w; then run `hookmux config set %[1]s on`", config.TmuxFollow, err)
	}
	where := "tmux shows agents when it is started"
	if running {
		where = "tmux shows agents now"
	}
	app.Say("%s; undo: hookmux tmux uninstall", where)
	return nil
}

// onPathName prefers the name of a program on PATH to what that links to: package managers
// keep the first and move the second.
func onPathName(program, path string) string {
	is, err := os.Stat(program)
	if err != nil {
		return program
	}
	for _, dir := range filepath.SplitList(path) {
		named := filepath.Join(dir, filepath.Base(program))
		if other, err := os.Stat(named); filepath.IsAbs(dir) && err == nil && os.SameFile(is, other) {
			return named
		}
	}
	return program
}

// freeKeys leaves out keys that mean something else to the user.
func freeKeys(ctx context.Context, server *tmux.Server, running bool, text []byte, keys *tmux.Keys) (notes []string) {
	taken := tmux.Bound(text, *keys)
	if running {
		if more, err := server.Taken(ctx, *keys); err == nil {
			taken = append(taken, more...)
		}
	}
	for flag, key := range map[string]*string{"--jump-key": &keys.Jump, "--popup-key": &keys.Popup} {
		for _, t := range taken {
			if *key == t && t != "" {
				notes = append(notes, "the key "+t+" is bound to something else and stays so; choose another with "+
					flag)
				*key = ""
			}
		}
	}
	return notes
}
