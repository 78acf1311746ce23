package runcmd

import (
	"bytes"
	"context"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

func tmuxStatusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show whether hookmux is in your tmux.conf and the running tmux",
		Long:    "Shows where hookmux is set up in tmux. Exits 1 if it isn't installed.",
		Example: "  hookmux tmux status --json",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return tmuxStatus(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {conf, own, current, running, icons, follow}")
	return cmd
}

// tmuxState is the output of `tmux status`.
type tmuxState struct {
	Conf    string `json:"conf"`    // the file with our line; "" for none
	Own     string `json:"own"`     // the file it reads
	Current bool   `json:"current"` // the line reads that file, and the file is there
	Running bool   `json:"running"` // a tmux server answers
	Icons   bool   `json:"icons"`   // and shows icons
	Follow  string `json:"follow"`  // the setting tmux.follow; "" when it cannot be known
}

func tmuxStatus(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	server := tmux.FromEnv(app.Getenv)
	state := tmuxState{Own: tmux.OwnConf(dirs.Data), Running: server.Running(ctx)}
	for _, path := range tmux.ConfPaths(dirs.Home, app.Getenv) {
		text, err := readConf(path)
		if err != nil {
			return err
		}
		if tmux.HasLine(text) {
			own, _ := readConf(state.Own)
			state.Conf, state.Current = path, own != nil && bytes.Equal(tmux.AddLine(text, state.Own), text)
		}
	}
	state.Icons = state.Running && server.ShowsIcons(ctx)
	if c, err := app.RunningDaemon(); err == nil {
		var settings []wire.Setting
		if c.Call(ctx, wire.MethodConfigGet, wire.ConfigListParams{}, &settings) == nil {
			for _, s := range settings {
				if s.Key == config.TmuxFollow {
					state.Follow = cmdutil.PlainValue(s.Value)
				}
			}
		}
	}
	if asJSON {
		err = app.PrintJSON(state)
	} else {
		sayTmux(app, server, dirs, &state)
	}
	if err == nil && !state.Current {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

func sayTmux(app *cmdutil.App, server *tmux.Server, dirs paths.Dirs, s *tmuxState) {
	short := func(path string) string { return termsafe.Text(paths.Shorten(dirs.Home, path)) }
	switch {
	case s.Conf == "":
		app.Say("not installed; run `hookmux tmux install`")
	case !s.Current:
		app.Say("%s: loads a file that's missing; `hookmux tmux install` fixes it", short(s.Conf))
	default:
		app.Say("%s: reads %s", short(s.Conf), short(s.Own))
	}
	switch {
	case !server.Available():
		app.Say("%s", tmux.ErrNoTmux)
	case !s.Running:
		app.Say("tmux is not running")
	case s.Icons:
		app.Say("the running tmux shows icons")
	default:
		app.Say("the running tmux doesn't show icons; a theme that sets window-status-format later hides them")
	}
	if s.Follow != "" && strings.TrimSpace(s.Follow) != "on" && s.Current {
		app.Say("%s is %s: icons and names stay empty; `hookmux config set %s on`", config.TmuxFollow, s.Follow,
			config.TmuxFollow)
	}
}
