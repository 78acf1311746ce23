package see

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/recorder/search"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// logFlags are the flags of `hookmux log`.
type logFlags struct {
	agents, kinds          []string
	session, tool, verdict string
	since, until, after    string
	text, host             string
	limit, count           int
	follow, asJSON         bool
	ids, logOnly           bool
	textGiven              bool
}

// LogCommand is `hookmux log`.
func LogCommand(app *cmdutil.App) *cobra.Command {
	var flags logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show what agents did and what was decided; -f follows",
		Long: `Shows events of the last 30 days, oldest first, with what was decided and by whom.
Secrets are redacted and long texts are cut. Without --since, --after or -n it shows
the last 50. It works without a running daemon.

--text searches prompts, commands, results and titles: every word must occur, at the
beginning of a word, and "double quotes" keep words together.

--host shows what another machine did: a host of hookmux remote, or a machine of your
fleet. --host all shows every machine of the fleet, or without a fleet every host.

-f shows events as they happen. Each line of --json has a cursor: --after with that
cursor continues right behind it, so you miss nothing between two runs. When the
daemon restarts, -f waits for it.`,
		Example: "  hookmux log\n  hookmux log -f\n  hookmux log --decision deny --since 7d\n" +
			"  hookmux log --text 'database migration'\n" +
			"  hookmux log -f -a codex --kind tool.before --json",
		Args: func(cmd *cobra.Command, args []string) error {
			err := cmdutil.ExactArgs()(cmd, args)
			if len(args) == 1 && cmd.Context() != nil && isSessionID(cmd.Context(), app, args[0]) {
				return cmdutil.UsageError("unexpected argument %q; did you mean `hookmux log --session %[1]s`?", args[0])
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.textGiven = cmd.Flags().Changed("text")
			return flags.run(cmd.Context(), app)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.follow, "follow", "f", false, "show events as they happen")
	f.StringSliceVarP(&flags.agents, "agent", "a", nil, "only this agent (repeatable)")
	f.StringSliceVar(&flags.kinds, "kind", nil, "only this kind, such as tool.before, or the agent's own name for it, "+
		"such as PreToolUse (repeatable)")
	f.StringVar(&flags.session, "session", "", "only this session: an ID, the beginning of one, a title or a pane")
	f.StringVar(&flags.tool, "tool", "", "only this tool")
	f.StringVar(&flags.verdict, "decision", "", "only this decision: allow, deny, ask, modify or none")
	f.StringVar(&flags.text, "text", "", "only events with these words")
	f.StringVar(&flags.host, "host", "", "only this other machine; all for every one")
	f.StringVar(&flags.since, "since", "", "nothing older: 1h, 2d, 2026-01-31, 2026-01-31T12:00:00Z")
	f.StringVar(&flags.until, "until", "", "nothing newer")
	f.IntVarP(&flags.limit, "limit", "n", 0, "only the newest N events, or with --after the next N; with -f, begin with the last N")
	f.IntVar(&flags.count, "count", 0, "with -f, stop after this many events")
	f.StringVar(&flags.after, "after", "", "only what follows this cursor (0: everything)")
	f.BoolVar(&flags.ids, "ids", false, "show the ID of each event, for hookmux why")
	f.BoolVar(&flags.logOnly, "log-only", false, "only what a guard, rule or hook in log mode would have stopped or changed")
	f.BoolVar(&flags.asJSON, "json", false, "one JSON object per line: {cursor, event, outcome}")
	return cmd
}

func (f *logFlags) run(ctx context.Context, app *cmdutil.App) (err error) {
	if f.agents, err = ownNames(app, f.agents); err != nil {
		return err
	}
	q, err := f.query()
	if err != nil {
		return err
	}
	if f.host == text.ThisMachine {
		f.host = ""
	}
	if f.host != "" && (f.follow || f.text != "") {
		return cmdutil.UsageError("--follow and --text are for this machine's log only; leave out --host")
	}
	if f.host == "" { // other machines have agents, sessions and tools that this one doesn't know
		if err := f.checkNames(ctx, app); err != nil {
			return err
		}
	}
	if f.follow {
		return f.runFollow(ctx, app, q)
	}
	if f.count != 0 {
		return cmdutil.UsageError("--count needs --follow; use -n")
	}
	if f.since == "" && f.after == "" && q.Limit == 0 {
		q.Limit = 50
	}
	q.Newest = f.after == "" && q.Limit > 0
	last, unsearched, err := f.printStored(ctx, app, q)
	if err == nil && unsearched > 0 {
		fmt.Fprintf(app.Stderr, "%d events weren't searched: they aren't in the search index (`hookmux status` shows "+
			"problems; a running daemon adds events in the background)\n", unsearched)
	}
	limited := false
	if c, _ := askDaemon(ctx, app); err == nil && !f.asJSON && f.host == "" && c != nil {
		limited = app.NoteLimited(ctx, c, "events", nil)
	}
	if err == nil && last == "" && !f.asJSON && !limited {
		fmt.Fprintln(app.Stderr, f.emptyMessage())
	}
	return err
}

// printStored prints stored events and returns the cursor of the last one, "" if there
// was none, and how many events were not searched.
func (f *logFlags) printStored(ctx context.Context, app *cmdutil.App, q wire.QueryParams) (last string,
	unsearched int64, err error) {
	line := newLogLine(app, f)
	// The doctor's own test events are hidden, and don't count. So more may be read than are
	// shown.
	hides := !f.asJSON && len(f.kinds) == 0
	most, read := q.Limit, 0
	var shown []client.Entry
	each := func(e client.Entry) bool {
		read++
		if !hides || eventHead(&e).Native != wire.ProbeEvent {
			shown = append(shown, e)
		}
		return q.Newest || most == 0 || len(shown) < most
	}
	if hides && !q.Newest {
		q.Limit = 0
	}
	for {
		read, shown = 0, nil
		if unsearched, err = f.readStored(ctx, app, q, each); err != nil {
			return "", 0, err
		}
		if !hides || !q.Newest || len(shown) >= most || read < q.Limit {
			break
		}
		q.Limit *= 4
	}
	if q.Newest && most > 0 {
		shown = shown[max(0, len(shown)-most):]
	}
	for i := range shown {
		last = shown[i].Cursor
		line.print(&shown[i])
	}
	return last, unsearched, nil
}

// readStored calls each with the stored events of a query, and returns how many were not searched.
func (f *logFlags) readStored(ctx context.Context, app *cmdutil.App, q wire.QueryParams, each func(client.Entry) bool) (
	unsearched int64, err error) {
	if f.host != "" {
		return 0, queryFleet(ctx, app, f.host, q, each)
	}
	c, err := askDaemon(ctx, app)
	switch {
	case err != nil:
		return 0, err
	case c == nil:
		if q.Session != "" {
			if d, err := storedSession(app, q.Session); err == nil {
				q.Session = d.ID
			}
		}
		return queryStored(ctx, app, q, each)
	}
	q.Session = wholeID(ctx, c, q.Session)
	return c.Search(ctx, q, each)
}

// logLine prints entries and remembers the day of the last one.
type logLine struct {
	app    *cmdutil.App
	style  text.Style
	day    string
	asJSON bool
	ids    bool
	hosts  bool
}

func newLogLine(app *cmdutil.App, f *logFlags) *logLine {
	l := &logLine{app: app, style: app.Style(), asJSON: f.asJSON, ids: f.ids, hosts: f.host == cmdutil.AllHosts}
	l.style.Day(time.Now(), &l.day)
	return l
}

func (l *logLine) print(e *client.Entry) {
	if l.asJSON {
		l.app.PrintJSONLine(e)
		return
	}
	ev := eventHead(e)
	if day := l.style.Day(ev.Time, &l.day); day != "" {
		l.app.Say("%s", day)
	}
	before := ""
	if l.hosts {
		before = hostColumn(e)
	}
	if l.ids {
		id := termsafe.Line(ev.ID, 26)
		if l.style.Width > 0 && l.style.Width < wideTerminal { // enough of it for `hookmux why`
			id = id[:min(len(id), shortEventID)]
		}
		before += id + " "
	}
	style := l.style
	if style.Width > 0 {
		style.Width = max(1, style.Width-text.VisibleWidth(before))
	}
	l.app.Say("%s%s", before, style.Entry(e))
}

// On terminals with fewer columns, log --ids shows the beginning of an ID.
const wideTerminal, shortEventID = 120, 14

func (f *logFlags) emptyMessage() string {
	if len(f.agents) == 1 && len(f.kinds) == 0 && f.session == "" && f.tool == "" && f.verdict == "" && f.since == "" &&
		f.until == "" && f.after == "" && f.text == "" && !f.logOnly {
		return "no events from " + f.agents[0] + " in the last 30 days"
	}
	if f.logOnly {
		return "nothing in log mode would have stopped anything"
	}
	if len(f.agents) > 0 || len(f.kinds) > 0 || f.session != "" || f.tool != "" || f.verdict != "" || f.since != "" ||
		f.until != "" || f.after != "" || f.text != "" || f.logOnly || f.host != "" {
		return "no events match"
	}
	return "no events yet; they appear here once a hooked agent runs"
}

// query checks the flags.
func (f *logFlags) query() (wire.QueryParams, error) {
	q := wire.QueryParams{After: f.after, Limit: f.limit, Filter: wire.Filter{Agents: f.agents, Kinds: f.kinds,
		Session: f.session, Tool: f.tool, LogOnly: f.logOnly, Text: f.text}}
	if f.textGiven && strings.TrimSpace(f.text) == "" {
		return q, cmdutil.UsageError("--text is empty; write the words to look for, such as --text 'database migration'")
	}
	if f.text != "" {
		if _, err := search.ParseQuery(f.text); err != nil {
			return q, cmdutil.UsageError("--text %q: %v", f.text, err)
		}
	}
	if f.verdict != "" {
		v, err := event.ParseVerdict(f.verdict)
		if err != nil {
			return q, cmdutil.UnknownName("decision", f.verdict, []string{"allow", "deny", "ask", "modify", "none"}, "")
		}
		q.Verdict = v.Word()
	}
	var err error
	if q.Since, err = cmdutil.Moment("--since", f.since); err != nil {
		return q, err
	}
	if q.Until, err = cmdutil.Moment("--until", f.until); err != nil {
		return q, err
	}
	if _, err := strconv.ParseUint(f.after, 10, 63); err != nil && f.after != "" {
		return q, cmdutil.UsageError("--after %q isn't a cursor; take one from --json, or 0 for the beginning", f.after)
	}
	switch {
	case f.limit < 0:
		return q, cmdutil.UsageError("-n can't be negative (%d)", f.limit)
	case f.count < 0:
		return q, cmdutil.UsageError("--count can't be negative (%d)", f.count)
	case f.since != "" && f.until != "" && q.Until.Before(q.Since):
		return q, cmdutil.UsageError("--until is before --since")
	case f.follow && f.until != "":
		return q, cmdutil.UsageError("use --follow or --until, not both")
	}
	return q, nil
}

// head is the part that is read of every stored event: its ID, its time, and the agent's own
// name for it.
type head struct {
	ID     string    `json:"id"`
	Native string    `json:"native"`
	Time   time.Time `json:"time"`
}

func eventHead(e *client.Entry) (ev head) {
	_ = json.Unmarshal(e.Event, &ev) // the line itself says what's wrong with it
	return ev
}
