package see

import (
	"context"
	"fmt"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// wholeID returns the ID of the session you mean, as `hookmux ps` shows it; a name that no
// listed session has is taken as an ID the journal may know.
func wholeID(ctx context.Context, c *client.Client, name string) string {
	if name == "" {
		return ""
	}
	if d, err := c.Session(ctx, name); err == nil {
		return d.ID
	}
	return name
}

// runFollow prints events as they happen, after the last ones that were asked for.
func (f *logFlags) runFollow(ctx context.Context, app *cmdutil.App, q wire.QueryParams) error {
	params := wire.StreamParams{Filter: q.Filter, After: q.After}
	if f.limit > 0 && f.since == "" && f.after == "" {
		q.Newest = true
	}
	if f.limit > 0 || f.since != "" {
		last, _, err := f.printStored(ctx, app, q)
		if err != nil {
			return err
		}
		if last != "" {
			params.After = last
		}
		params.Since = time.Time{}
	}
	return f.followEvents(ctx, app, params)
}

// keepShown is how many outcomes are remembered, so that none is shown twice.
const keepShown = 4096

func (f *logFlags) followEvents(ctx context.Context, app *cmdutil.App, params wire.StreamParams) error {
	asJSON, count := f.asJSON, f.count
	c, err := app.WaitForDaemon(ctx)
	if err != nil {
		return err
	}
	params.Filter.Session = wholeID(ctx, c, params.Filter.Session)
	line := newLogLine(app, f)
	style := line.style
	var shown bounded.Map[string, struct{}] // outcomes, by the event's id
	seen := 0
	each := func(n client.Note) error {
		switch {
		case n.Entry != nil:
			params.After = n.Entry.Cursor
			line.print(n.Entry)
			if n.Entry.Outcome != nil {
				shown.Put(n.Entry.Outcome.ID, struct{}{}, keepShown)
			}
			if seen++; count > 0 && seen >= count {
				return cmdutil.ErrEnough
			}
		case n.Outcome != nil:
			if shown.Has(n.Outcome.ID) { // the daemon has filtered it
				return nil
			}
			shown.Put(n.Outcome.ID, struct{}{}, keepShown)
			if asJSON {
				app.PrintJSONLine(map[string]any{"outcome": n.Outcome})
			} else if outcome := style.Outcome(n.Outcome, true); outcome != "" {
				app.Say("%s", outcome)
			}
			// Decided after its event was stored: with --decision this is all
			// you see of it.
			if params.Verdict != "" {
				if seen++; count > 0 && seen >= count {
					return cmdutil.ErrEnough
				}
			}
		case n.Ready != nil:
			params.After = n.Ready.Cursor
			if !asJSON && seen == 0 {
				fmt.Fprintln(app.Stderr, "following; events appear as agents report them (Ctrl-C to stop)")
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
	// Problems come first: you shouldn't watch a quiet screen while the journal is
	// broken.
	if info, err := c.Info(ctx); err == nil && !asJSON {
		for i := range info.Problems {
			app.Say("%s", style.Problem(&info.Problems[i]))
		}
	}
	return cmdutil.FollowStream(ctx, func() error { return c.Stream(ctx, params, each) })
}
