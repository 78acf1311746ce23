package rulescmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// WhyCommand is `hookmux why`.
func WhyCommand(app *cmdutil.App) *cobra.Command {
	w := &whyFlags{app: app}
	cmd := &cobra.Command{
		Use:   "why [COMMAND | EVENT-ID | AGENT EVENT]",
		Short: "Explain why a call was stopped, or what would happen to one",
		Long: `Explains a decision: who made it (a guard, a rule, a hook, a permission or you), and
why. There are four ways to ask:

  hookmux why                     the last call that was stopped
  hookmux why EVENT-ID            a recorded call (IDs: hookmux log --ids)
  hookmux why 'COMMAND'           what would happen to a command; nothing runs
  hookmux why AGENT EVENT < FILE  what an agent's payload would get

For a payload, your own hooks are listed but not run; --run runs commands and scripts.
--decision pretends that a decision was made.`,
		Example: `  hookmux why                                   # the last call that was stopped
  hookmux why 'git push -f origin main'         # what would happen to a command
  hookmux why 01k9zq3b1x                        # a recorded event
  hookmux why claude PreToolUse < payload.json  # a payload, and the answer
  hookmux why --payload call.json --agent codex --event PreToolUse`,
		Args: cobra.ArbitraryArgs,
		RunE: w.run,
	}
	cmd.SetFlagErrorFunc(w.flagError)
	f := cmd.Flags()
	f.BoolVar(&w.asJSON, "json", false, "print JSON")
	f.StringVar(&w.file, "payload", "", "a file with one of the agent's payloads, or one event as log --json prints it")
	f.StringVarP(&w.agent, "agent", "a", "claude", "the agent that makes the call")
	f.StringVar(&w.native, "event", "PreToolUse", "the agent's own name of the payload's event")
	f.BoolVar(&w.payload.run, "run", false, "payload: run command and script hooks, for real")
	f.StringVar(&w.payload.decision, "decision", "", "payload: pretend this decision was made (allow, deny, ask, modify, none)")
	f.StringVar(&w.payload.reason, "reason", "", "payload: its reason")
	f.StringVar(&w.payload.input, "input", "", "payload: the input that decision changes it to, a JSON object")
	f.StringVar(&w.payload.context, "context", "", "payload: its added context")
	return cmd
}

type whyFlags struct {
	app                 *cmdutil.App
	asJSON              bool
	file, agent, native string
	payload             payloadFlags
}

// flagError takes the flags of a command that isn't quoted for what they are, as in `hookmux
// why rm -rf /`.
func (w *whyFlags) flagError(cmd *cobra.Command, err error) error {
	said := cmdutil.FlagError(cmd, err)
	var words []string
	if at := slices.Index(w.app.Args, "why"); at >= 0 {
		words = w.app.Args[at+1:]
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(words) == 0 || strings.HasPrefix(words[0], "-") || strings.Contains(said.Error(), "did you mean --") {
		return said
	}
	return quoteCommand(words)
}

func quoteCommand(words []string) error {
	return cmdutil.UsageError("quote the command: hookmux why '%s'", strings.Join(words, " "))
}

func (w *whyFlags) run(cmd *cobra.Command, args []string) error {
	app, ctx := w.app, cmd.Context()
	switch {
	case len(args) != 2 && cmd.Flags().Changed("decision") || len(args) != 2 && cmd.Flags().Changed("input") ||
		len(args) != 2 && cmd.Flags().Changed("reason") || len(args) != 2 && cmd.Flags().Changed("context") ||
		len(args) != 2 && w.payload.run:
		return cmdutil.UsageError("--decision, --reason, --input, --context and --run need an agent, an event and a " +
			"payload on stdin, as in `hookmux why claude PreToolUse < payload.json`")
	case w.file == "" && len(args) == 0 && cmd.Flags().Changed("event"):
		return cmdutil.UsageError("--event needs a payload: `hookmux why --payload call.json -a claude --event PreToolUse`")
	case w.file != "" && len(args) == 2:
		return cmdutil.UsageError("with a payload, agent and event are flags: `hookmux why -a %s --event %s --payload %s`", args[0], args[1], w.file)
	case w.file != "" && len(args) > 0:
		return cmdutil.UsageError("give a command or --payload, not both")
	case w.file != "":
		ev, err := readEvent(app, w.file, w.agent, w.native)
		if err != nil {
			return err
		}
		return examineEvent(ctx, app, ev, w.asJSON)
	case len(args) == 0:
		call, err := lastStopped(ctx, app)
		if err != nil {
			return err
		}
		return sayWhy(ctx, app, call, w.asJSON)
	case len(args) == 1 && strings.TrimSpace(args[0]) == "":
		return cmdutil.UsageError("the command is empty")
	case len(args) == 1 && isEventID(args[0]):
		call, err := findCall(ctx, app, args[0])
		if err != nil {
			return err
		}
		return sayWhy(ctx, app, call, w.asJSON)
	case len(args) == 1 && looksLikeID(args[0]) && len(args[0]) < 10 && isEventID((args[0] + "0000000000")[:10]):
		return cmdutil.UsageError("%q is too short for an event ID; write at least its first 10 characters", args[0])
	case len(args) == 1 && looksLikeID(args[0]) && len(args[0]) >= 10:
		return cmdutil.UsageError("there's no event %s; `hookmux log --ids` lists them", args[0])
	case len(args) == 1 && looksLikeID(args[0]):
		return cmdutil.UsageError("%q isn't an event ID; `hookmux log --ids` shows them", args[0])
	case len(args) == 1 && (isRule(args[0]) || slices.Contains(GuardNames(), args[0])):
		guard, _, _ := strings.Cut(args[0], ".")
		return cmdutil.UsageError("%s isn't a command; `hookmux guard show %s` says what the guard stops", args[0], guard)
	case len(args) == 1:
		catalogue, err := app.Catalogue()
		if err != nil {
			return err
		}
		if _, ok := catalogue.Agent(w.agent); !ok {
			return cmdutil.UnknownAgent(catalogue, w.agent)
		}
		if a, ok := catalogue.Agent(args[0]); ok {
			return cmdutil.UsageError("which event? As in `hookmux why %s PreToolUse < payload.json`; `hookmux hooks discover %s` lists them",
				a.Name, a.Name)
		}
		if c, err := app.RunningDaemon(); err == nil && cmdutil.PlainName(args[0]) {
			if item, err := c.Request(ctx, args[0]); err == nil {
				return cmdutil.UsageError("%s is a request; `hookmux inbox --all` shows it, `hookmux log --ids` has the ID of its event", item.ID)
			}
		}
		if !w.asJSON && mayBeID(args[0]) {
			app.Say("no event has the ID %s; reading it as a command", args[0])
		}
		return examineEvent(ctx, app, commandEvent(args[0], app.Cwd(), w.agent), w.asJSON)
	case len(args) == 2 && w.isPayload(args):
		return explainPayload(app, cmd, &w.payload, args[0], args[1], w.asJSON)
	}
	return quoteCommand(args)
}

// isPayload distinguishes AGENT EVENT from a command that wasn't quoted.
func (w *whyFlags) isPayload(args []string) bool {
	catalogue, err := w.app.Catalogue()
	if err != nil {
		return false
	}
	if _, ok := catalogue.Agent(args[0]); ok {
		return true
	}
	return slices.ContainsFunc(catalogue.Agents(), func(a *agent.Agent) bool {
		_, ok := a.Event(args[1])
		return ok
	})
}

// looksLikeID reports whether a word was meant as an event's ID: no program is called so.
func looksLikeID(word string) bool {
	return word[:min(1, len(word))] >= "0" && word[:min(1, len(word))] <= "9" && cmdutil.PlainName(word)
}

// mayBeID reports whether a word that is read as a command could have been meant as an ID:
// letters and digits, of which several are at its end.
func mayBeID(word string) bool {
	return len(word) >= 4 && len(strings.TrimRight(word, "0123456789")) <= len(word)-3 &&
		!strings.ContainsFunc(word, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
}

// lastStopped returns the last call that was denied or asked about.
func lastStopped(ctx context.Context, app *cmdutil.App) (*storedCall, error) {
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

var errNothing = errors.New("no call has been stopped yet; `hookmux why EVENT-ID` explains any other call")

// Decided identifies who decided about a call.
type Decided struct {
	Verdict string `json:"verdict"`
	By      string `json:"by"`            // guard, rule, hook, permission, person, hookmux, nobody
	Who     string `json:"who,omitempty"` // its name
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// whoDecided returns who decided, according to an outcome.
func whoDecided(outcome *wire.Outcome) Decided {
	none := Decided{Verdict: "none", By: "nobody"}
	if outcome == nil {
		none.Reason = "the journal doesn't say what came of it"
		return none
	}
	var d event.Decision
	if json.Unmarshal(outcome.Decision, &d) != nil {
		none.Reason = "the journal doesn't say what came of it"
		return none
	}
	out := Decided{Verdict: d.Verdict.Word(), Who: d.By, Rule: d.Rule, Reason: d.Reason}
	name, isGuard := hook.GuardName(d.By)
	permission, isPermission := event.PermissionOf(d.By)
	switch {
	case d.Verdict == event.None && outcome.Neutral != "":
		out.By, out.Reason = "nobody", "hookmux made no decision: "+text.CodeText(outcome.Neutral)
	case d.Verdict == event.None && d.By == "":
		out.By = "nobody"
	case d.Answer != nil || outcome.Inbox != nil && d.By == event.ByUser:
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

// sayWhy prints who decided, and what guards and rules would decide today.
func sayWhy(ctx context.Context, app *cmdutil.App, call *storedCall, asJSON bool) error {
	decided := whoDecided(call.outcome)
	j, err := openEvaluator(app)
	if err != nil {
		return err
	}
	var examination *examine.Examination
	if call.event.Tool != nil {
		j.Spent, j.Lifts = askSpent(ctx, app, &call.event)
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
	who := decided.By
	if who == "person" {
		who = "you"
	}
	line := decided.Verdict + " by " + who
	if decided.Who != "" {
		line += " " + decided.Who
	}
	if decided.Rule != "" && decided.Rule != decided.Who {
		line += ", rule " + decided.Rule
	}
	if decided.By == "nobody" {
		line = "by the agent's own settings: hookmux left the call alone"
	}
	if decided.Reason != "" {
		line += ": " + strings.TrimPrefix(event.ShortDenial(decided.Reason), decided.Rule+": ")
	}
	app.Say("decided   %s", termsafe.Line(app.Shorten(line), 500))
	sayGaps(app, call, false)
	if examination != nil {
		app.Say("\nwith today's settings:")
		SayExamination(app, examination)
	}
	return nil
}

// gapsOf returns which parts of a call the journal no longer has.
func gapsOf(call *storedCall) []string {
	gaps := []string{}
	raw := call.raw
	if bytes.Contains(raw, []byte(redactmarks.Head)) {
		gaps = append(gaps, "secrets were removed from the record, so facts about them are unknown")
	}
	if call.event.Truncated || bytes.Contains(raw, []byte(redactmarks.CutHeadPlain)) {
		gaps = append(gaps, "long texts in the record were cut, so facts beyond the cut are unknown")
	}
	return gaps
}

// sayGaps prints what of a call is no longer known.
func sayGaps(app *cmdutil.App, call *storedCall, quiet bool) {
	for _, gap := range gapsOf(call) {
		if !quiet {
			app.Say("note      %s", gap)
		}
	}
}
