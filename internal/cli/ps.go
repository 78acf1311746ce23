package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *world) psCommand() *cobra.Command {
	var follow, asJSON, all bool
	var agents []string
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "What every agent is doing: a line a session, who waits for you first",
		Long: `Lists sessions: status, agent, title, how long, where, and what it does now or how
its last turn went. Those that wait for you stand on top, the longest waiting
first. A session nobody heard of for an hour, and whose process is gone, leaves
the list; --all shows those of them that can be taken up again.

Status is one of neverRan, running, idle, needsInput, success, failed, and unsure
where it cannot be known.`,
		Example: "  hookmux ps\n  hookmux ps --watch\n  hookmux ps --json | jq '.[] | select(.status == \"needsInput\")'",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			params := wire.SessionsParams{All: all, Agents: agents}
			if follow {
				return w.psWatch(cmd.Context(), params, asJSON)
			}
			return w.ps(cmd.Context(), params, asJSON)
		},
	}
	cmd.Flags().BoolVar(&follow, "watch", false, "stay and follow changes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "[{id, agent, status, title, tool, cwd, pane, startedAt, turn, …}]; with --watch a line a change: {session, what, gone}")
	cmd.Flags().BoolVar(&all, "all", false, "also sessions that are over and can be taken up again")
	cmd.Flags().StringSliceVar(&agents, "agent", nil, "only this agent (repeatable)")
	return cmd
}

func (w *world) ps(ctx context.Context, params wire.SessionsParams, asJSON bool) error {
	c, err := w.hub(ctx)
	if err != nil {
		return err
	}
	list, err := c.Sessions(ctx, params)
	if err != nil {
		return err
	}
	if asJSON {
		return w.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(w.stderr, w.nobody(params))
		return nil
	}
	w.style().Sessions(w.stdout, list, time.Now(), w.columns())
	return nil
}

// nobody says why a list is empty and what to do.
func (w *world) nobody(params wire.SessionsParams) string {
	if len(params.Agents) > 0 {
		return "no such session; `hookmux ps` lists those of all agents"
	}
	if params.All {
		return "no session, and none that can be taken up again"
	}
	return "no session; start an agent with `hookmux run`, or install its hooks with `hookmux install`"
}

// columns is how wide the terminal is; 0 when it is none.
func (w *world) columns() int {
	width, _ := w.screen()
	return width
}

// rows is how high the terminal is; 0 when it is none.
func (w *world) rows() int {
	_, height := w.screen()
	return height
}

func (w *world) screen() (width, height int) {
	f, ok := w.stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// leaveOnKey calls leave when the person presses q, Esc or Ctrl-C: in a popup
// that is how one gets out. The result puts the terminal back.
func (w *world) leaveOnKey(leave func()) func() {
	in, ok := w.stdin.(*os.File)
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

// fitting is a page cut to a screen: who waits stands on top and must not
// scroll away. The last row stays free for the cursor.
func fitting(page []byte, rows int) []byte {
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

// psWatch follows sessions: on a terminal the list is drawn anew, elsewhere a
// line is written for each change.
func (w *world) psWatch(ctx context.Context, params wire.SessionsParams, asJSON bool) error {
	c, err := w.hub(ctx)
	if err != nil {
		return err
	}
	if asJSON || w.columns() == 0 {
		return w.psLines(ctx, c, params, asJSON)
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
	defer w.leaveOnKey(leave)()
	go func() {
		_ = follow(ctx, func() error { // a hub that says no says so to the list as well
			return c.Stream(ctx, wire.StreamParams{Sessions: wire.SessionsOnly}, func(n client.Note) error { poke(); return nil })
		})
	}()
	fmt.Fprint(w.stdout, "\x1b[?1049h\x1b[?25l") // another screen, no cursor
	defer fmt.Fprint(w.stdout, "\x1b[?25h\x1b[?1049l")
	second := time.NewTicker(time.Second) // durations go on by themselves
	defer second.Stop()
	for {
		var page bytes.Buffer
		list, err := c.Sessions(ctx, params)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, client.ErrNoHub):
			return err
		case err != nil:
			fmt.Fprintln(&page, "no hub; waiting for the next")
		case len(list) == 0:
			fmt.Fprintln(&page, w.nobody(params))
		default:
			w.style().Sessions(&page, list, time.Now(), w.columns())
		}
		lines := bytes.ReplaceAll(fitting(page.Bytes(), w.rows()), []byte("\n"), []byte("\x1b[K\r\n"))
		fmt.Fprintf(w.stdout, "\x1b[H%s\x1b[J", lines)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-second.C:
		}
	}
}

func (w *world) psLines(ctx context.Context, c *client.Client, params wire.SessionsParams, asJSON bool) error {
	wanted := func(s *wire.Session) bool { return len(params.Agents) == 0 || contains(params.Agents, s.Agent) }
	return follow(ctx, func() error {
		ready := false
		return c.Stream(ctx, wire.StreamParams{Sessions: wire.SessionsOnly}, func(n client.Note) error {
			switch {
			case n.Ready != nil && !ready:
				ready = true
				list, err := c.Sessions(ctx, params)
				if err != nil {
					return err
				}
				for i := range list {
					w.psLine(&wire.SessionChange{Session: list[i]}, asJSON)
				}
				if !asJSON {
					fmt.Fprintln(w.stderr, "watching; sessions appear as they change (Ctrl-C ends)")
				}
			case n.Session != nil && wanted(&n.Session.Session):
				w.psLine(n.Session, asJSON)
			}
			return nil
		})
	})
}

func (w *world) psLine(c *wire.SessionChange, asJSON bool) {
	if asJSON {
		w.jsonLine(c)
		return
	}
	if c.Gone {
		w.say("%s %s left the list", c.Session.Agent, c.Session.ID)
		return
	}
	var line bytes.Buffer
	w.style().Sessions(&line, []wire.Session{c.Session}, time.Now(), 0)
	if _, row, ok := bytes.Cut(line.Bytes(), []byte("\n")); ok {
		_, _ = w.stdout.Write(row)
	}
}
