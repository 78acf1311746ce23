package see

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/boundedmap"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// filterFlags are the same for watch and log.
type filterFlags struct {
	agents, kinds          []string
	session, tool, verdict string
}

func (f *filterFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.agents, "agent", nil, "only this agent (repeatable)")
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only this kind, unified or native: tool.before, PreToolUse "+
		"(repeatable)")
	cmd.Flags().StringVar(&f.session, "session", "", "only this session: its id, the beginning of it, its title or "+
		"its pane")
	cmd.Flags().StringVar(&f.tool, "tool", "", "only this tool name")
	cmd.Flags().StringVar(&f.verdict, "decision", "", "only what was decided so: allow, deny, ask, modify, none")
}

func (f *filterFlags) buildFilter() (wire.Filter, error) {
	out := wire.Filter{Agents: f.agents, Kinds: f.kinds, Session: f.session, Tool: f.tool}
	if f.verdict != "" {
		v, err := event.ParseVerdict(f.verdict)
		if err != nil {
			return out, cmdutil.UsageError("--decision: %v", err)
		}
		out.Verdict = v.Word()
	}
	return out, nil
}

// wholeID is the id of the session a person means, as `hookmux ps` shows it; a
// name that no listed session has is taken as an id the journal may know.
func wholeID(ctx context.Context, c *client.Client, name string) string {
	if name == "" {
		return ""
	}
	if d, err := c.Session(ctx, name); err == nil {
		return d.ID
	}
	return name
}

// WatchCommand is `hookmux log -f`.
func WatchCommand(app *cmdutil.App) *cobra.Command {
	var (
		flags  filterFlags
		asJSON bool
		after  string
		count  int
	)
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Events as they happen, one line each",
		Long: `Follows events of all agents. Each line of --json carries a cursor; --after with
that cursor goes on behind it, so that nothing is missed between two runs. When
the daemon restarts, watch waits for the next one and goes on where it was.`,
		Example: "  hookmux log -f\n  hookmux log -f --agent codex --kind tool.before\n  hookmux log -f --json --after " +
			"1234",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := flags.buildFilter()
			if err != nil {
				return err
			}
			if count < 0 {
				return cmdutil.UsageError("--count %d is negative", count)
			}
			if err := checkCursor(after); err != nil {
				return err
			}
			return watchEvents(cmd.Context(), app, wire.StreamParams{Filter: filter, After: after}, asJSON, count)
		},
	}
	flags.addTo(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object per line: {cursor, event, outcome}")
	cmd.Flags().StringVar(&after, "after", "", "begin behind this cursor (0: with everything stored)")
	cmd.Flags().IntVar(&count, "count", 0, "stop after this many events")
	return cmd
}

// checkCursor finds a typing error before the daemon is asked.
func checkCursor(after string) error {
	if _, err := strconv.ParseUint(after, 10, 63); err != nil && after != "" {
		return cmdutil.UsageError("--after %q is not a cursor; take one from --json, or 0 for the beginning", after)
	}
	return nil
}

// keepShown is how many outcomes are remembered, so that none is shown twice.
const keepShown = 4096

func watchEvents(ctx context.Context, app *cmdutil.App, params wire.StreamParams, asJSON bool, count int) error {
	c, err := app.WaitForDaemon(ctx)
	if err != nil {
		return err
	}
	params.Filter.Session = wholeID(ctx, c, params.Filter.Session)
	style := app.Style()
	var shown boundedmap.Map[string, struct{}] // outcomes, by the event's id
	seen := 0
	each := func(n client.Note) error {
		switch {
		case n.Entry != nil:
			params.After = n.Entry.Cursor
			if asJSON {
				app.PrintJSONLine(n.Entry)
			} else {
				app.Say("%s", style.Entry(n.Entry))
			}
			if n.Entry.Outcome != nil {
				shown.Put(n.Entry.Outcome.ID, struct{}{}, keepShown)
			}
			if seen++; count > 0 && seen >= count {
				return cmdutil.ErrEnough
			}
		case n.Outcome != nil:
			if shown.Has(n.Outcome.ID) { // the daemon has held it against the filter
				return nil
			}
			shown.Put(n.Outcome.ID, struct{}{}, keepShown)
			if asJSON {
				app.PrintJSONLine(map[string]any{"outcome": n.Outcome})
			} else if line := style.Outcome(n.Outcome, true); line != "" {
				app.Say("%s", line)
			}
			// Decided after its event was stored: who asked for decisions sees
			// only this of it.
			if params.Verdict != "" {
				if seen++; count > 0 && seen >= count {
					return cmdutil.ErrEnough
				}
			}
		case n.Ready != nil:
			params.After = n.Ready.Cursor
			if !asJSON && seen == 0 {
				fmt.Fprintln(app.Stderr, "watching; events appear as agents report them (Ctrl-C ends)")
			}
		case n.Problem != nil:
			if asJSON {
				app.PrintJSONLine(map[string]any{"problem": n.Problem})
			} else {
				app.Say("%s", style.Problem(n.Problem))
			}
		case n.Trace != nil:
			if asJSON {
				app.PrintJSONLine(map[string]any{"trace": n.Trace})
			} else {
				app.Say("%s", termsafe.Line("· "+n.Trace.Hook+": "+n.Trace.Text, 400))
			}
		}
		return nil
	}
	// What is wrong already is said first: nobody should watch a quiet screen
	// while the journal is broken.
	if info, err := c.Info(ctx); err == nil && !asJSON {
		for i := range info.Problems {
			app.Say("%s", style.Problem(&info.Problems[i]))
		}
	}
	return cmdutil.FollowStream(ctx, func() error { return c.Stream(ctx, params, each) })
}
