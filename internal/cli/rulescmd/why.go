package rulescmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/recorder/redact/marks"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// WhyCommand is `hookmux why`.
func WhyCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why [EVENT-ID]",
		Short: "Who decided about a call, and on which facts",
		Long: `Says of an event of the journal who decided it: a guard, a rule, a hook, a
saved permission, a person, or nobody; then what guards and rules think of the same
call today. Without an id it is about the last call that was denied or asked
about. ` + "`hookmux log --ids`" + ` shows ids; the beginning of one is enough.`,
		Example: "  hookmux why\n  hookmux why 01k9zq3b1x",
		Args:    cmdutil.OptionalArg(),
		RunE: func(cmd *cobra.Command, args []string) error {
			call, err := chooseCall(cmd.Context(), app, args)
			if err != nil {
				return err
			}
			return sayWhy(cmd.Context(), app, call, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {event, decided: {by, who, verdict, rule, reason}, "+
		"gaps, examination}")
	return cmd
}

// chooseCall finds the call that is meant.
func chooseCall(ctx context.Context, app *cmdutil.App, args []string) (*storedCall, error) {
	if len(args) > 0 {
		if !isEventID(args[0]) {
			return nil, cmdutil.UsageError("%q is not an id of an event; `hookmux log --ids` shows them", args[0])
		}
		return findCall(ctx, app, args[0])
	}
	var last *storedCall
	for _, verdict := range []string{"deny", "ask"} {
		q := wire.QueryParams{Newest: true, Limit: 1}
		q.Verdict = verdict
		found, err := queryCall(ctx, app, q, errNothing)
		if err != nil && !errors.Is(err, errNothing) {
			return nil, err
		}
		if err == nil && (last == nil || found.event.Time.After(last.event.Time)) {
			last = found
		}
	}
	if last == nil {
		return nil, cmdutil.FailWith(cmdutil.ExitFailed, errNothing.Error())
	}
	return last, nil
}

var errNothing = errors.New("no call was denied or asked about yet; `hookmux why EVENT-ID` tells of any other")

// Decided is who decided about a call.
type Decided struct {
	Verdict string `json:"verdict"`
	By      string `json:"by"`            // guard, rule, hook, permission, person, hookmux, nobody
	Who     string `json:"who,omitempty"` // its name
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// whoDecided reads out of an outcome who decided.
func whoDecided(outcome *wire.Outcome) Decided {
	none := Decided{Verdict: "none", By: "nobody"}
	if outcome == nil {
		none.Reason = "the journal does not say what came of it"
		return none
	}
	var d event.Decision
	if json.Unmarshal(outcome.Decision, &d) != nil {
		none.Reason = "the journal does not say what came of it"
		return none
	}
	out := Decided{Verdict: d.Verdict.Word(), Who: d.By, Rule: d.Rule, Reason: d.Reason}
	name, isGuard := hook.GuardName(d.By)
	permission, isPermission := event.PermissionOf(d.By)
	switch {
	case d.Verdict == event.None && outcome.Neutral != "":
		out.By, out.Reason = "nobody", "nobody was asked: "+text.CodeText(outcome.Neutral)
	case d.Verdict == event.None && d.By == "":
		out.By = "nobody"
	case d.Answer != nil || outcome.Inbox != nil && d.By == event.ByPerson:
		out.By = "person"
	case isPermission:
		out.By, out.Who = "permission", permission
	case d.By == sources.RulesHook:
		out.By, out.Who = "rule", d.Rule
	case isGuard:
		out.By, out.Who = "guard", name
	case d.By == event.ByHookmux:
		out.By = "hookmux"
	default:
		out.By = "hook"
	}
	return out
}

// sayWhy tells who decided, and what guards and rules think today.
func sayWhy(ctx context.Context, app *cmdutil.App, call *storedCall, asJSON bool) error {
	decided := whoDecided(call.outcome)
	j, err := openJudge(app)
	if err != nil {
		return err
	}
	var examination *examine.Examination
	if call.event.Tool != nil {
		examination = j.Examine(ctx, &call.event)
	}
	gaps := gapsOf(call)
	if asJSON {
		return app.PrintJSON(map[string]any{"event": call.raw, "decided": decided, "gaps": gaps,
			"examination": examination})
	}
	ev := &call.event
	app.Say("event     %s  %s %s, %s", ev.ID, termsafe.Line(ev.Agent, 40), termsafe.Line(ev.Native, 60),
		text.Moment(ev.Time, time.Now()))
	if label := text.Label(ev); label != "" {
		app.Say("          %s", termsafe.Line(label, 160))
	}
	line := decided.Verdict + " by " + decided.By
	if decided.Who != "" {
		line += " " + decided.Who
	}
	if decided.Rule != "" && decided.Rule != decided.Who {
		line += ", rule " + decided.Rule
	}
	if decided.By == "nobody" {
		line = "nobody decided: the agent's own settings did"
	}
	if decided.Reason != "" {
		line += ": " + decided.Reason
	}
	app.Say("decided   %s", termsafe.Line(app.Shorten(line), 500))
	sayGaps(app, call, false)
	if examination != nil {
		app.Say("today     guards and rules think of this call:")
		SayExamination(app, examination)
	}
	return nil
}

// gapsOf says what of a call the journal does not hold any more.
func gapsOf(call *storedCall) []string {
	gaps := []string{}
	raw := call.raw
	if bytes.Contains(raw, []byte(marks.Head)) {
		gaps = append(gaps, "secrets were taken out of the record, so that facts about them are not known")
	}
	if call.event.Truncated || bytes.Contains(raw, []byte(marks.CutHeadPlain)) {
		gaps = append(gaps, "long texts of the record were cut, so that facts behind the cut are not known")
	}
	return gaps
}

// sayGaps tells what of a call is not known any more.
func sayGaps(app *cmdutil.App, call *storedCall, quiet bool) {
	for _, gap := range gapsOf(call) {
		if !quiet {
			app.Say("note      %s", gap)
		}
	}
}
