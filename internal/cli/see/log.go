package see

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// LogCommand is `hookmux log`.
func LogCommand(app *cmdutil.App) *cobra.Command {
	var (
		flags        filterFlags
		asJSON       bool
		since, until string
		limit        int
		after        string
		logOnly      bool
		ids          bool
	)
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Stored events, oldest first",
		Long: `Reads the journal: every event of the last 30 days with what was decided, by
whom and how long it took. Secrets are redacted, long texts are cut. Without
--since, --after or --limit the last 50 events are shown.`,
		Example: "  hookmux log --since 1h --agent codex --kind tool.before --json\n  hookmux log --decision deny " +
			"--since 7d",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := flags.buildFilter()
			if err != nil {
				return err
			}
			filter.LogOnly = logOnly
			q := wire.QueryParams{Filter: filter, After: after, Limit: limit}
			if q.Since, err = parseMoment("--since", since); err != nil {
				return err
			}
			if q.Until, err = parseMoment("--until", until); err != nil {
				return err
			}
			if err := checkCursor(after); err != nil {
				return err
			}
			if limit < 0 {
				return cmdutil.UsageError("--limit %d is negative", limit)
			}
			if since == "" && after == "" {
				q.Newest = true
				if q.Limit == 0 {
					q.Limit = 50
				}
			}
			c, err := app.ReadDaemon(cmd.Context())
			if err != nil {
				return err
			}
			q.Session = wholeID(cmd.Context(), c, q.Session)
			style := app.Style()
			return c.Query(cmd.Context(), q, func(e client.Entry) bool {
				switch {
				case asJSON:
					app.PrintJSONLine(e)
				case ids:
					app.Say("%s %s", eventID(&e), style.Entry(&e))
				default:
					app.Say("%s", style.Entry(&e))
				}
				return true
			})
		},
	}
	flags.addTo(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object per line: {cursor, event, outcome}")
	cmd.Flags().StringVar(&since, "since", "", "not older than this: 1h, 2d, 2026-01-31, 2026-01-31T12:00:00Z")
	cmd.Flags().StringVar(&until, "until", "", "not newer than this")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most this many")
	cmd.Flags().StringVar(&after, "after", "", "behind this cursor")
	cmd.Flags().BoolVar(&ids, "ids", false, "with the id of each event, for hookmux why and hookmux why")
	cmd.Flags().BoolVar(&logOnly, "log-only", false, "only what a logOnly guard or hook would have had a say in")
	return cmd
}

// eventID is the id of a stored event.
func eventID(e *client.Entry) string {
	var ev struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(e.Event, &ev) // the line itself says what is wrong with it
	return termsafe.Line(ev.ID, 26)
}

// parseMoment reads a point in time: a span ago, a day, or a full time.
func parseMoment(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if span, err := config.ParseSpan(s); err == nil && span >= 0 {
		return time.Now().Add(-span), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04",
		time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, cmdutil.UsageError("%s %q is not a time; write 1h, 2d, 2026-01-31 or 2026-01-31T12:00:00Z",
		flag, s)
}
