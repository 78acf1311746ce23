package rulescmd

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards"
	"github.com/hookmux/hookmux/internal/policy/replay"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/origins"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// replayFlags are the flags of `hookmux rules replay`.
type replayFlags struct {
	app      *cmdutil.App
	since    string
	files    []string
	agents   []string
	project  string
	host     string
	guards   bool
	switched bool
	fails    string
	asJSON   bool
}

// What --fail-on takes.
var failWords = []string{"deny", "ask", "differs", "not-replayable"}

// ReplayCommand is `hookmux rules replay`.
func ReplayCommand(app *cmdutil.App) *cobra.Command {
	f := &replayFlags{app: app}
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Show what rules would have done to past calls",
		Long: `Replays recorded calls against your rules, or those in FILE, and shows what would
have been denied, asked or warned about, with the IDs of the newest calls for
` + "`hookmux why ID`" + `. Nothing changes.

Calls are skipped, and counted, if something a rule needs wasn't recorded. Rules in log
mode are replayed as if they blocked, unless you give --keep-modes.`,
		Example: `  hookmux rules replay --since 30d
  hookmux rules replay --rules ./new.yaml --agent codex --json
  hookmux rules replay --since 7d --guards --fail-on deny`,
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&f.since, "since", "30d", "how far back: 12h, 30d")
	cmd.Flags().StringArrayVar(&f.files, "rules", nil, "rule files to use instead of your own; repeatable")
	cmd.Flags().StringArrayVarP(&f.agents, "agent", "a", nil, "only calls of this agent; repeatable")
	cmd.Flags().StringVar(&f.host, "host", "", "calls of this other machine; all for every one")
	cmd.Flags().StringVar(&f.project, "project", "", "only calls in or below this folder")
	cmd.Flags().BoolVar(&f.guards, "guards", false, "replay the built-in guards as well")
	cmd.Flags().BoolVar(&f.switched, "keep-modes", false, "keep the modes: rules in log mode change nothing")
	cmd.Flags().StringVar(&f.fails, "fail-on", "", "exit with 1 if there are any: "+strings.Join(failWords, ", "))
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON: {scanned, wouldDeny, wouldAsk, differs, rules, …}")
	return cmd
}

func (f *replayFlags) run(ctx context.Context) error {
	span, err := cmdutil.Span("--since", f.since, "12h or 30d")
	if err != nil {
		return err
	}
	if f.fails != "" {
		if err := cmdutil.CheckFlag("fail-on", f.fails, failWords...); err != nil {
			return err
		}
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	c, err := f.app.ReadDaemon(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	filter := wire.Filter{Agents: f.agents, Kinds: heardKinds(o), Since: time.Now().Add(-span)}
	progress := newProgress(f.app)
	o.Progress = progress.say
	report, err := replay.Run(storedCalls(ctx, c, f.host, filter), *o)
	progress.clear()
	if err != nil {
		return err
	}
	if f.asJSON {
		if err := f.app.PrintJSON(report); err != nil {
			return err
		}
	} else {
		sayReport(f.app, report)
	}
	found := map[string]int{"deny": report.Deny, "ask": report.Ask, "differs": report.Differs,
		"not-replayable": report.NotReplayable}
	if found[f.fails] > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

// options reads the rules and guards to replay by.
func (f *replayFlags) options() (*replay.Options, error) {
	dirs, err := f.app.Dirs()
	if err != nil {
		return nil, err
	}
	j := evaluate.New(dirs, f.app.LiveSettings)
	notes := origins.New(dirs.State)
	o := &replay.Options{Home: dirs.Home, Honour: f.switched, Catalogue: j.Catalogue,
		FindProject: j.Registry.FindProject, GroupOf: j.Registry.RootFor,
		StartOf: func(agent, session string) (string, error) {
			return notes.Read(origins.Session{Agent: agent, ID: session})
		}}
	if len(f.files) > 0 {
		if o.Rules, err = readRuleFiles(f.files); err != nil {
			return nil, err
		}
	} else {
		base, _, states := j.RulesAt(f.app.Cwd())
		o.Rules, o.Modes = base.Rules, states
		o.ProjectRules = func(project string) []*rules.Rule {
			_, own, _ := j.RulesAt(project)
			return own.Rules
		}
	}
	if f.guards {
		if err := addGuards(o, j); err != nil {
			return nil, err
		}
	}
	if f.project != "" {
		folder, err := filepath.Abs(f.project)
		if err != nil {
			return nil, err
		}
		o.Keep = func(ev *event.Event, group string) bool {
			return slices.ContainsFunc([]string{ev.Cwd, group}, func(at string) bool {
				return at == folder || strings.HasPrefix(at, strings.TrimSuffix(folder, "/")+"/")
			})
		}
	}
	return o, nil
}

// addGuards asks the built-in guards as well, as if all were on.
func addGuards(o *replay.Options, j *evaluate.Evaluator) error {
	list, err := guards.Rules(j.SettingsIn("", nil).Strings(config.GuardHosts))
	if err != nil {
		return err
	}
	o.Rules = slices.Concat(o.Rules, list)
	o.Checks = guards.Checks(facts.Machine{OwnPaths: j.ProtectedPaths(nil)})
	return nil
}

func readRuleFiles(files []string) ([]*rules.Rule, error) {
	var sources []rules.Source
	for _, file := range files {
		data, err := userfile.ReadFile(file, 4<<20)
		if err != nil {
			return nil, cmdutil.FileError(file, err)
		}
		sources = append(sources, rules.Source{Name: file, Data: data, Layer: rules.User})
	}
	list, problems := rules.Parse(sources...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s; `hookmux rules check` lists everything that is wrong", problems[0])
	}
	return list, nil
}

// heardKinds returns the kinds of events that are worth reading.
func heardKinds(o *replay.Options) []string {
	var list []string
	counted := replay.NeedsCounts(o.Rules)
	for _, kind := range event.Kinds() {
		if replay.Evaluates(o.Rules, kind) || counted && slices.Contains(replay.CountedKinds(), kind) {
			list = append(list, string(kind))
		}
	}
	return list
}

// storedCalls reads the journal, or with a host the fleet's, through the daemon, which knows
// what the caller may read. Entries are passed on as they come: there may be very many.
func storedCalls(ctx context.Context, c *client.Client, host string, filter wire.Filter) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		page := wire.QueryParams{Filter: filter, Limit: wire.MaxQueryPage}
		for {
			var answer json.RawMessage
			var err error
			if host == "" || host == text.ThisMachine {
				err = c.Call(ctx, wire.MethodQuery, page, &answer)
			} else {
				err = c.Call(ctx, wire.MethodFleetLog, wire.FleetLogParams{Host: cmdutil.FleetHost(host), QueryParams: page}, &answer)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			more := true
			err = jsontext.Array(jsontext.Get(answer, "entries"), func(entry []byte) bool {
				more = yield(entry, nil)
				return more
			})
			if err != nil && more {
				yield(nil, err)
				return
			}
			page.After, _ = jsontext.String(jsontext.Get(answer, "next"))
			if !more || page.After == "" {
				return
			}
		}
	}
}

// progress shows at a terminal how far a replay is, once it takes a while.
type progress struct {
	app   *cmdutil.App
	began time.Time
	said  time.Time
}

func newProgress(app *cmdutil.App) *progress { return &progress{app: app, began: time.Now()} }

func (p *progress) say(scanned int) {
	now := time.Now()
	if now.Sub(p.began) < time.Second || now.Sub(p.said) < 200*time.Millisecond || p.app.Columns() == 0 {
		return
	}
	p.said = now
	fmt.Fprintf(p.app.Stderr, "\r%d calls read …", scanned)
}

func (p *progress) clear() {
	if !p.said.IsZero() {
		fmt.Fprint(p.app.Stderr, "\r\x1b[K")
	}
}

func sayReport(app *cmdutil.App, r *replay.Report) {
	if r.Scanned == 0 {
		app.Say("no calls were recorded in this time; `hookmux log` shows what was")
		return
	}
	app.Say("%s from %s to %s", countCalls(r.Scanned), r.From.Local().Format("2006-01-02 15:04"),
		r.To.Local().Format("2006-01-02 15:04"))
	app.Say("  would deny %d, ask %d, warn %d, allow %d; %d turned out differently", r.Deny, r.Ask, r.Warn, r.Allow,
		r.Differs)
	if r.NotReplayable > 0 {
		app.Say("  can't be replayed: %d, because something a rule needs was cut, redacted or never recorded", r.NotReplayable)
	}
	sayRules(app, r)
	for _, part := range []struct {
		title  string
		groups []*replay.GroupCount
	}{{"by agent", r.Agents}, {"by project", r.Projects}} {
		app.Say("%s", part.title)
		rows := [][]string{}
		for i, g := range part.groups {
			if i == 20 {
				rows = append(rows, []string{"  …", fmt.Sprintf("%d more, with --json", len(part.groups)-i)})
				break
			}
			rows = append(rows, []string{"  " + termsafe.Line(app.Shorten(g.Name), 100),
				countCalls(g.Scanned), describeCounts(&g.Counts, 0)})
		}
		text.Table(app.Stdout, rows, 0)
	}
}

func sayRules(app *cmdutil.App, r *replay.Report) {
	app.Say("by rule")
	silent := 0
	for _, c := range r.Rules {
		if len(c.Samples) == 0 && c.NotReplayable == 0 {
			silent++
			continue
		}
		app.Say("  %s: %s", termsafe.Line(c.ID, 100), describeCounts(&c.Counts, c.LogOnly))
		for _, s := range c.Samples {
			app.Say("    %s  %s %s (%s, was %s)", s.ID, s.Time.Local().Format("01-02 15:04"),
				termsafe.Line(s.Call, 100), termsafe.Line(s.Agent, 40), s.Happened)
		}
	}
	if silent > 0 {
		app.Say("  %s wouldn't have matched", countRules(silent))
	}
}

func countCalls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

// describeCounts says what calls would have come to, without what is nothing.
func describeCounts(c *replay.Counts, logOnly int) string {
	var parts []string
	for _, one := range []struct {
		n    int
		what string
	}{{c.Deny, "denied"}, {c.Ask, "asked"}, {c.Warn, "warned"}, {c.Allow, "allowed"}, {logOnly, "only recorded"},
		{c.Differs, "different from what happened"}, {c.NotReplayable, "can't be replayed"}} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
