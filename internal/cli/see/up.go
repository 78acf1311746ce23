package see

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/demo"
	"github.com/hookmux/hookmux/internal/cli/runcmd"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/ui/tui"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

// UpCommand is `hookmux up`.
func UpCommand(app *cmdutil.App) *cobra.Command {
	var inPopup, withDemo, asSidebar bool
	var host string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Open the live view (the same as hookmux alone)",
		Long: `Shows every session by what it needs from you, and each request in full. The line at
the bottom shows the keys that apply; ? shows all of them. You can't approve a
request before you've scrolled to its end. While the view is open, agents wait for
your answer. Prompts that only the agent's own terminal can answer are listed too;
g takes you there; n starts another agent. Starts the daemon if none is running.

--sidebar is only the list, for a narrow pane that stays open. In tmux it opens one
beside this pane; a shows a request in full in a popup, Enter jumps to a session.

--demo shows recorded agents, with a daemon of their own: it doesn't touch your files
and needs no agents.`,
		Example: "  hookmux up\n  hookmux up --demo\n  hookmux up --popup\n  hookmux up --sidebar",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case host != "" && (inPopup || withDemo || asSidebar):
				return cmdutil.UsageError("use --host alone")
			case inPopup && withDemo:
				return cmdutil.UsageError("use --popup or --demo, not both")
			case asSidebar && (inPopup || withDemo):
				return cmdutil.UsageError("use --sidebar alone")
			case asSidebar:
				return showSidebar(cmd.Context(), app)
			case inPopup:
				return showPopup(cmd.Context(), app)
			case withDemo:
				return showDemo(cmd.Context(), app)
			}
			return showLiveView(cmd.Context(), app, host)
		},
	}
	cmd.Flags().BoolVar(&withDemo, "demo", false, "show recorded agents, to try it out")
	cmd.Flags().BoolVar(&asSidebar, "sidebar", false, "show only the list, in a narrow pane that stays open")
	cmd.Flags().BoolVar(&inPopup, "popup", false, "open it in a tmux popup over the current pane")
	cmd.Flags().StringVar(&host, "host", "", cmdutil.HostFlag)
	return cmd
}

// ShowViewOrOverview is hookmux without a command: the live view, or what to do first if
// no agent is hooked yet.
func ShowViewOrOverview(ctx context.Context, app *cmdutil.App) error {
	o, err := takeOverview(ctx, app)
	if err != nil {
		return err
	}
	if canDraw(app) && (o.daemon || o.anyHooked()) {
		return showView(ctx, app, o, view{})
	}
	o.print(app)
	return nil
}

// canDraw reports whether there's a screen to draw on and a keyboard to read.
func canDraw(app *cmdutil.App) bool {
	return app.IsTerminal() && app.Columns() > 0 && app.Getenv("TERM") != "dumb"
}

func needScreen(app *cmdutil.App) error {
	if canDraw(app) {
		return nil
	}
	return cmdutil.UsageError("up needs a terminal; `hookmux ps` and `hookmux inbox` print the same, also as --json")
}

// showPopup opens the view over the pane this runs in.
func showPopup(ctx context.Context, app *cmdutil.App) error {
	place := tmux.Where(app.Getenv)
	if place.Kind != "tmux" {
		return cmdutil.UsageError("up --popup only works inside tmux; use `hookmux up` here")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return tmux.FromEnv(app.Getenv).ShowPopup(ctx, place.Pane, shellquote.Single(program)+" up")
}

// widestSidebar is the widest pane that becomes a sidebar itself: in a wider one of tmux a
// pane for it is split off.
const widestSidebar = 50

// showSidebar returns the list alone.
func showSidebar(ctx context.Context, app *cmdutil.App) error {
	if err := needScreen(app); err != nil {
		return err
	}
	place := tmux.Where(app.Getenv)
	if place.Kind == "tmux" && app.Columns() > widestSidebar {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		return tmux.FromEnv(app.Getenv).SplitLeft(ctx, place.Pane, sidebarWidth, shellquote.Single(program)+" up --sidebar")
	}
	o, err := takeOverview(ctx, app)
	if err != nil {
		return err
	}
	return showView(ctx, app, o, view{sidebar: true})
}

// sidebarWidth is how many columns a sidebar gets.
const sidebarWidth = 34

// showDemo returns the view with recorded agents.
func showDemo(ctx context.Context, app *cmdutil.App) error {
	if err := needScreen(app); err != nil {
		return err
	}
	return demo.Run(ctx, func(ctx context.Context, h *demo.Daemon) error {
		return tui.Run(ctx, tui.Options{Daemon: h, Demo: true, Home: "/home/you", Empty: []string{"", "The recorded agents start in a moment."},
			Agents: []string{"claude", "codex", "gemini"}, Folder: "/home/you/shop",
			Start: func(_ context.Context, w tui.Work) (string, error) {
				return "This is a recording. Outside the demo, " + w.Agent + " would start in a tmux window now.", nil
			},
			Jump: func(context.Context, *wire.Session) (string, error) {
				return "This is a recording. With a real agent you'd be in its terminal now.", nil
			}})
	})
}

func showLiveView(ctx context.Context, app *cmdutil.App, host string) error {
	if err := needScreen(app); err != nil {
		return err
	}
	if err := app.CheckHost(ctx, host); err != nil {
		return err
	}
	o, err := takeOverview(ctx, app)
	if err != nil {
		return err
	}
	return showView(ctx, app, o, view{host: host})
}

// keepWatching has the daemon forget keys that went to other panes while the view waits.
func keepWatching(ctx context.Context, c *client.Client) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = c.Call(ctx, wire.MethodWhoami, wire.TerminalLookParams{Watch: true, Again: true}, nil) // the next one may
		}
	}
}

// view says which part of it is shown.
type view struct {
	sidebar bool
	host    string // only this machine
}

func showView(ctx context.Context, app *cmdutil.App, o *overview, shows view) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	empty := []string{""}
	for _, step := range o.nextSteps() {
		empty = append(empty, fmt.Sprintf("%-28s %s", step[0], step[1]))
	}
	watchKeys := func(ctx context.Context) {
		_ = c.Call(ctx, wire.MethodWhoami, wire.TerminalLookParams{Watch: true}, nil) // if not, a code is asked for
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go keepWatching(watching, c)
	opts := tui.Options{Daemon: startedDaemon{c, app, shows.host}, Empty: empty, Version: version.String, WatchKeys: watchKeys,
		Sidebar: shows.sidebar, Home: app.Getenv("HOME"), Folder: app.Cwd(), Agents: o.startable(),
		Start: func(ctx context.Context, work tui.Work) (string, error) {
			return runcmd.StartInTmux(ctx, app, runcmd.Work{Agent: work.Agent, Folder: work.Folder, Worktree: work.Worktree,
				Prompt: work.Prompt})
		},
		Jump: func(ctx context.Context, s *wire.Session) (string, error) {
			if s.Host != "" {
				return jumpToHost(ctx, app, s, false)
			}
			return focusPane(ctx, app, s)
		},
		Resume: func(ctx context.Context, s *wire.Session) (string, error) {
			return runcmd.ResumeInTmux(ctx, app, c, s.ID)
		}}
	if app.Getenv("TMUX") != "" {
		opts.Answer = func(ctx context.Context) error { return showPopup(ctx, app) }
	}
	return tui.Run(ctx, opts)
}

// startedDaemon is a daemon that is started again if it is gone while you look.
type startedDaemon struct {
	*client.Client
	app  *cmdutil.App
	host string // only this machine
}

// Sessions returns those of the machine that is shown.
func (h startedDaemon) Sessions(ctx context.Context, params client.SessionsParams) ([]client.SessionInfo, error) {
	list, err := h.Client.Sessions(ctx, params)
	return slices.DeleteFunc(list, func(one wire.Session) bool { return !cmdutil.OnHost(h.host, one.Host) }), err
}

// Stream leaves out sessions of other machines.
func (h startedDaemon) Stream(ctx context.Context, params wire.StreamParams, each func(client.Note) error) error {
	return h.Client.Stream(ctx, params, func(n client.Note) error {
		if n.Session != nil && !cmdutil.OnHost(h.host, n.Session.Session.Host) {
			return nil
		}
		return each(n)
	})
}

// FollowWaiting starts a daemon if none runs. One that died several times within a minute is
// left alone for a while.
func (h startedDaemon) FollowWaiting(ctx context.Context, tell func(client.InboxNote) error) error {
	each := func(n client.InboxNote) error {
		if n.Item != nil && !cmdutil.OnHost(h.host, n.Item.Host) {
			return nil
		}
		return tell(n)
	}
	err := h.Client.FollowWaiting(ctx, each)
	if !errors.Is(err, client.ErrNoDaemon) {
		return err
	}
	dirs, err := h.app.Dirs()
	if err != nil {
		return err
	}
	if _, paused := daemonstart.Paused(dirs); paused {
		return errors.New(h.app.ExplainNoDaemon(dirs))
	}
	if err := h.app.StartDaemon(ctx, dirs, h.Client); err != nil {
		return err
	}
	return h.Client.FollowWaiting(ctx, each)
}
