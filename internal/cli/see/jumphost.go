package see

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/fleet/remote"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// tmuxPane is how tmux names a pane. The name comes from another machine.
var tmuxPane = regexp.MustCompile(`^%[0-9]{1,9}$`)

// hostCommand returns the command line that goes to a session on another machine.
func hostCommand(target string, s *wire.Session) ([]string, error) {
	if s.Mux != "tmux" || !tmuxPane.MatchString(s.Pane) {
		return nil, fmt.Errorf("can't jump to %q: on %s it runs in no tmux pane; `ssh %s` goes there",
			termsafe.Line(s.Title, 60), s.Host, target)
	}
	program, err := remote.Program()
	if err != nil {
		return nil, err
	}
	there := "tmux"
	if s.Server != "" {
		there += " -S " + shellquote.Argument(s.Server)
	}
	there += fmt.Sprintf(` select-window -t %[1]s \; select-pane -t %[1]s \; attach-session -t %[1]s`, shellquote.Argument(s.Pane))
	return []string{program, "-t", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes", "--", target, there}, nil
}

// jumpToHost goes to a session on another machine: in a new window if you use tmux, else by
// ssh in this terminal. If that isn't free, as in the live view, it says how.
func jumpToHost(ctx context.Context, app *cmdutil.App, s *wire.Session, terminal bool) (string, error) {
	target, err := targetOf(ctx, app, s.Host)
	if err != nil {
		return "", err
	}
	argv, err := hostCommand(target, s)
	if err != nil {
		return "", err
	}
	place := tmux.Where(app.Getenv)
	switch {
	case place.Kind == "tmux":
		return "", tmux.FromEnv(app.Getenv).NewWindow(ctx, place.Pane, s.Host, windowCommand(argv))
	case !terminal:
		return "it runs on " + s.Host + "; run " + shellquote.Line(argv), nil
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = app.Environ, app.Stdin, app.Stdout, app.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("ssh %s: %w", target, err)
	}
	return "", nil
}

// windowCommand returns the command of a window that goes to another machine. If ssh fails,
// the window stays open, so that you can read why.
func windowCommand(argv []string) string {
	return shellquote.Line([]string{"sh", "-c", `"$@" || { printf '\n%s' "Press Enter to close this window."; read -r _; }`,
		"sh"}) + " " + shellquote.Line(argv)
}

// targetOf returns how ssh reaches a host.
func targetOf(ctx context.Context, app *cmdutil.App, name string) (string, error) {
	var list []wire.Host
	err := app.ReadOnce(ctx, func(ctx context.Context, c *client.Client) error {
		return c.Call(ctx, wire.MethodHosts, nil, &list)
	})
	if err != nil {
		return "", err
	}
	for _, one := range list {
		target := one.Target
		if one.Kind == wire.HostFleet { // which only knows names; your ssh config says where that is
			target = one.Name
		}
		if one.Name == name && remote.CheckTarget(target) == nil {
			return target, nil
		}
	}
	return "", fmt.Errorf("no machine is called %s any more", name)
}
