// Package see implements the commands that show what agents do and did, and those that act on
// a session.
package see

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
)

// PsCommand is `hookmux ps`.
func PsCommand(app *cmdutil.App) *cobra.Command {
	var follow, asJSON, all bool
	var agents []string
	var host, status string
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List sessions, waiting ones first",
		Long: `Lists sessions, those that have waited longest for you first. ACTIVITY is what a
session is doing now, or how its last turn went. Sessions that ended leave the list
after an hour; --all shows them, and those you can resume.

STATUS is waiting, running, done, failed, idle, or unknown if hookmux can't tell.
ps doesn't start the daemon; exit code 69 means that it isn't running.`,
		Example: "  hookmux ps\n  hookmux ps -f\n  hookmux ps --status running",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if agents, err = ownNames(app, agents); err != nil {
				return err
			}
			params := wanted{wire.SessionsParams{All: all, Agents: agents}, host, status}
			if status != "" {
				if err := cmdutil.CheckFlag("status", status, statuses...); err != nil {
					return err
				}
			}
			if err := checkSessionAgents(cmd.Context(), app, agents); err != nil {
				return err
			}
			if err := app.CheckHost(cmd.Context(), host); err != nil {
				return err
			}
			if follow {
				return followSessions(cmd.Context(), app, params, asJSON)
			}
			return listSessions(cmd.Context(), app, params, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow changes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: [{id, agent, status, title, tool, cwd, pane, startedAt, turn, …}]; "+
		"with -f one line per change: {session, what, gone}")
	cmd.Flags().BoolVar(&all, "all", false, "also sessions that ended, and those you can resume")
	cmd.Flags().StringSliceVarP(&agents, "agent", "a", nil, "only this agent (repeatable)")
	cmd.Flags().StringVar(&status, "status", "", "only this status: "+strings.Join(statuses, ", "))
	cmd.Flags().StringVar(&host, "host", "", cmdutil.HostFlag)
	return cmd
}

// statuses are what a session's status can be.
var statuses = []string{wire.StatusWaiting, wire.StatusRunning, wire.StatusDone, wire.StatusFailed, wire.StatusIdle, wire.StatusUnknown}

// wanted says which sessions are listed.
type wanted struct {
	wire.SessionsParams
	host, status string
}

// fits reports whether a session is among them, by what the daemon doesn't filter.
func (p *wanted) fits(s *wire.Session) bool {
	return cmdutil.OnHost(p.host, s.Host) && (p.status == "" || p.status == s.Status)
}

// list asks for them.
func (p *wanted) list(ctx context.Context, c *client.Client) ([]wire.Session, error) {
	list, err := c.Sessions(ctx, p.SessionsParams)
	return slices.DeleteFunc(list, func(one wire.Session) bool { return !p.fits(&one) }), err
}

func listSessions(ctx context.Context, app *cmdutil.App, params wanted, asJSON bool) error {
	var list []wire.Session
	var daemon *client.Client
	err := app.ReadOnce(ctx, func(asked context.Context, c *client.Client) (err error) {
		daemon = c
		list, err = params.list(asked, c)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(list)
	}
	if len(list) > 0 {
		showSessions(app, app.Stdout, list, params.All)
	}
	if limited := app.NoteLimited(ctx, daemon, "sessions", hiddenSessions); len(list) == 0 && !limited {
		fmt.Fprintln(app.Stderr, emptyListMessage(params))
	}
	return nil
}

func hiddenSessions(info *client.Info) int {
	return info.Limited.Sessions
}

// showSessions lists sessions. Those that have ended are one line, unless all are
// wanted.
func showSessions(app *cmdutil.App, w io.Writer, list []wire.Session, all bool) {
	open := list
	if !all {
		open = slices.DeleteFunc(slices.Clone(list), func(s wire.Session) bool { return s.Ended != nil && !s.CutOff })
	}
	app.Style().Sessions(w, open, time.Now(), app.Columns())
	switch ended := len(list) - len(open); {
	case ended == 1:
		fmt.Fprintln(w, "- 1 session ended; `hookmux ps --all` shows it")
	case ended > 1:
		fmt.Fprintf(w, "- %d sessions ended; `hookmux ps --all` shows them\n", ended)
	}
}

// emptyListMessage says why a list is empty and what to do.
func emptyListMessage(params wanted) string {
	if params.status != "" {
		return "no session is " + params.status + "; `hookmux ps` lists all"
	}
	if params.host != "" {
		return "no sessions on this machine; `hookmux ps` lists all"
	}
	if len(params.Agents) > 0 {
		return "no sessions of this agent; `hookmux ps` lists all"
	}
	if params.All {
		return "no sessions, and none you can resume"
	}
	return "no sessions; start an agent, or run `hookmux setup` if yours aren't hooked"
}

// leaveOnKey calls leave when you press q, Esc or Ctrl-C: in a popup that's how to leave. The
// function it returns restores the terminal.
func leaveOnKey(app *cmdutil.App, leave func()) func() {
	in, ok := app.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return func() {}
	}
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return func() {}
	}
	go func() { // ends with the program: a read cannot be called back
		keys := make([]byte, 16)
		for {
			n, err := in.Read(keys)
			if err != nil {
				return
			}
			for _, key := range keys[:n] {
				if key == 'q' || key == 'Q' || key == 3 || key == 4 || key == 27 && n == 1 {
					leave()
					return
				}
			}
		}
	}()
	return func() { _ = term.Restore(int(in.Fd()), old) }
}

// fitToScreen cuts a page to the screen: what is waiting is on top and must not scroll away.
// The last row stays free for the cursor.
func fitToScreen(page []byte, rows int) []byte {
	lines := bytes.SplitAfter(page, []byte("\n"))
	if n := len(lines); n > 0 && len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	if rows < 3 || len(lines) < rows {
		return page
	}
	kept := bytes.Join(lines[:rows-2], nil)
	return fmt.Appendf(kept, "… and %d more; `hookmux ps` shows all\n", len(lines)-(rows-2))
}

// followSessions follows sessions: on a terminal the list is redrawn, elsewhere each
// change is a line.
func followSessions(ctx context.Context, app *cmdutil.App, params wanted, asJSON bool) error {
	c, err := app.WaitForDaemon(ctx)
	if err != nil {
		return err
	}
	if asJSON || app.Columns() == 0 {
		return streamSessions(ctx, app, c, params, asJSON)
	}
	changed := make(chan struct{}, 1)
	poke := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	restore := leaveOnKey(app, leave)
	defer restore()
	go func() {
		_ = cmdutil.FollowStream(ctx, func() error { // a daemon that says no says so to the list as well
			return c.Stream(ctx, wire.StreamParams{Sessions: wire.SessionsOnly},
				func(client.Note) error { poke(); return nil })
		})
	}()
	fmt.Fprint(app.Stdout, "\x1b[?1049h\x1b[?25l") // another screen, no cursor
	defer fmt.Fprint(app.Stdout, "\x1b[?25h\x1b[?1049l")
	second := time.NewTicker(time.Second) // durations go on by themselves
	defer second.Stop()
	for {
		var page bytes.Buffer
		list, err := params.list(ctx, c)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, client.ErrNoDaemon):
			return err
		case err != nil:
			fmt.Fprintln(&page, "the daemon isn't running; waiting for it")
		case len(list) == 0:
			fmt.Fprintln(&page, emptyListMessage(params))
		default:
			showSessions(app, &page, list, params.All)
		}
		lines := bytes.ReplaceAll(fitToScreen(page.Bytes(), app.Rows()), []byte("\n"), []byte("\x1b[K\r\n"))
		fmt.Fprintf(app.Stdout, "\x1b[H%s\x1b[J", lines)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-second.C:
		}
	}
}

func streamSessions(ctx context.Context, app *cmdutil.App, c *client.Client, params wanted,
	asJSON bool) error {
	wanted := func(s *wire.Session) bool {
		return (len(params.Agents) == 0 || slices.Contains(params.Agents, s.Agent)) && params.fits(s)
	}
	return cmdutil.FollowStream(ctx, func() error {
		ready := false
		return c.Stream(ctx, wire.StreamParams{Sessions: wire.SessionsOnly}, func(n client.Note) error {
			switch {
			case n.Ready != nil && !ready:
				ready = true
				list, err := params.list(ctx, c)
				if err != nil {
					return err
				}
				for i := range list {
					printSessionChange(app, &wire.SessionChange{Session: list[i]}, asJSON)
				}
				if !asJSON {
					fmt.Fprintln(app.Stderr, "following; sessions appear as they change (Ctrl-C to stop)")
				}
			case n.Session != nil && wanted(&n.Session.Session):
				printSessionChange(app, n.Session, asJSON)
			}
			return nil
		})
	})
}

func printSessionChange(app *cmdutil.App, c *wire.SessionChange, asJSON bool) {
	if asJSON {
		app.PrintJSONLine(c)
		return
	}
	if c.Gone {
		app.Say("%s %s left the list", c.Session.Agent, c.Session.ID)
		return
	}
	var line bytes.Buffer
	app.Style().Sessions(&line, []wire.Session{c.Session}, time.Now(), 0)
	if _, row, ok := bytes.Cut(line.Bytes(), []byte("\n")); ok {
		_, _ = app.Stdout.Write(row)
	}
}
