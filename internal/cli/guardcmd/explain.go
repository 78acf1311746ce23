package guardcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// ExplainCommand is `hookmux why`.
func ExplainCommand(app *cmdutil.App) *cobra.Command {
	var (
		asJSON, run                         bool
		decision, reason, input, contextStr string
	)
	cmd := &cobra.Command{
		Use:   "explain AGENT EVENT < payload.json",
		Short: "Dry run: what an event becomes, who decides, the exact native answer",
		Long: `Reads a native payload on stdin and shows its way without leaving a trace: the
unified event, the hooks meant for it, the decision, what the agent cannot carry
(degraded), and the exact bytes and exit code the agent would get. hookmux's own
guards are asked and saved permissions count; other hooks are listed, not run, and
then the decision is not known: --run runs those that are commands. Where a person
would be asked it says so. --decision supposes an answer.`,
		Example: `  hookmux why claude PreToolUse < payload.json
  hookmux why codex PreToolUse --decision deny --reason "why" --json < payload.json
  hookmux why claude PreToolUse --decision modify --input '{"command":"ls"}' < payload.json`,
		Args: cmdutil.ExactArgs("AGENT", "EVENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := wire.ExplainParams{Agent: args[0], Event: args[1], Cwd: app.Cwd()}
			if decision != "" || reason != "" || input != "" || contextStr != "" {
				d, err := parseSupposedDecision(decision, reason, input, contextStr)
				if err != nil {
					return err
				}
				p.Decision = d
			}
			payload, err := app.ReadPayload("explain " + args[0] + " " + args[1])
			if err != nil {
				return err
			}
			p.Payload = payload
			c, err := app.ConnectDaemon(cmd.Context())
			if err != nil {
				return err
			}
			method := wire.MethodExplain
			if run {
				if p.Decision != nil {
					return cmdutil.UsageError("--run and --decision exclude each other")
				}
				method, p.Env = wire.MethodExplainRun, app.Environ
			}
			var result wire.Explained
			if err := c.Call(cmd.Context(), method, p, &result); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(result)
			}
			return showExplained(app, &result)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "{event, matched, decision, answer: {stdout, stderr, exitCode}, …}")
	cmd.Flags().BoolVar(&run, "run", false, "run command and script hooks as well; what they do is real")
	cmd.Flags().StringVar(&decision, "decision", "", "suppose this decision: allow, deny, ask, modify, none")
	cmd.Flags().StringVar(&reason, "reason", "", "its reason")
	cmd.Flags().StringVar(&input, "input", "", "its changed input, a JSON object")
	cmd.Flags().StringVar(&contextStr, "context", "", "its added context")
	return cmd
}

func parseSupposedDecision(decision, reason, input, context string) (json.RawMessage, error) {
	v, err := event.ParseVerdict(decision)
	if err != nil {
		return nil, cmdutil.UsageError("--decision: %v", err)
	}
	d := event.Decision{Verdict: v, Reason: reason, Context: context, By: event.BySupposed}
	if input != "" {
		if !json.Valid([]byte(input)) || !strings.HasPrefix(strings.TrimSpace(input), "{") {
			return nil, cmdutil.UsageError("--input %q is no JSON object", input)
		}
		d.Input = json.RawMessage(input)
		if v == event.Allow || v == event.None {
			d.Allowed = v == event.Allow
			d.Verdict = event.Modify
		}
	}
	return json.Marshal(d)
}

func showExplained(app *cmdutil.App, r *wire.Explained) error {
	var ev event.Event
	if err := json.Unmarshal(r.Event, &ev); err != nil {
		return err
	}
	var d event.Decision
	if err := json.Unmarshal(r.Decision, &d); err != nil {
		return err
	}
	app.Say("event     %s %s → %s", termsafe.Line(ev.Agent, 40), termsafe.Line(ev.Native, 60), ev.Kind)
	if label := text.Label(&ev); label != "" {
		app.Say("          %s", termsafe.Line(label, 160))
	}
	if ev.Session != "" {
		app.Say("          session %s, cwd %s", termsafe.Line(ev.Session, 80), termsafe.Line(ev.Cwd, 160))
	}
	for _, n := range r.Notes {
		app.Say("note      %s", termsafe.Line(n, 300))
	}
	if len(r.Matched) == 0 {
		app.Say("hooks     none is for this event")
	}
	for _, m := range r.Matched {
		state := "would run"
		switch {
		case m.Error != "":
			state = "failed: " + m.Error
		case m.Ran:
			state = "said " + m.Verdict
		case !m.Matches:
			state = "its match does not fit this call"
		case m.LogOnly:
			state = "only logs, so it changes nothing"
		}
		if m.LogOnly && m.Ran {
			state = "only logs; would have said nothing"
			if m.Would != nil {
				state = "only logs; " + text.WouldHave(m.Would)
			}
		}
		kind := m.Scope + ", " + m.Handler
		if m.Scope == "builtin" {
			kind = "built in"
		}
		app.Say("hooks     %s (%s, %s): %s", termsafe.Line(m.ID, 60), kind, m.Mode, termsafe.Line(state, 200))
	}
	var examination examine.Examination
	if len(r.Examination) > 0 && json.Unmarshal(r.Examination, &examination) == nil {
		rulescmd.SayExamination(app, &examination)
	}
	if len(r.Unknown) > 0 {
		app.Say("decision  %s", termsafe.Line(unknownDecision(r), 300))
		app.Say("answer    not known")
		return nil
	}
	line := d.Verdict.Word()
	if d.KeepGoing {
		line = "keep going"
	}
	if d.Reason != "" {
		line += ": " + d.Reason
	}
	if d.Context != "" {
		line += " (with context)"
	}
	app.Say("decision  %s", termsafe.Line(line, 300))
	for _, x := range r.Degraded {
		app.Say("degraded  %s", termsafe.Line(x, 200))
	}
	app.Say("answer    exit code %d", r.Answer.ExitCode)
	showOutputStream(app, "stdout", r.Answer.Stdout)
	showOutputStream(app, "stderr", r.Answer.Stderr)
	return nil
}

// unknownDecision says which hooks would have a say and were not run.
func unknownDecision(r *wire.Explained) string {
	line := "not known: " + strings.Join(r.Unknown, ", ") + " not run"
	for _, m := range r.Matched {
		if slices.Contains(r.Unknown, m.ID) &&
			slices.Contains([]string{"command", "script", hook.HandlerAHP}, m.Handler) {
			return line + "; --run runs commands"
		}
	}
	return line
}

func showOutputStream(app *cmdutil.App, name, s string) {
	if s == "" {
		app.Say("%s    nothing", name)
		return
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(s), "          ", "  ") == nil {
		fmt.Fprintf(app.Stdout, "%s    %s\n", name, termsafe.Text(b.String()))
		return
	}
	fmt.Fprintf(app.Stdout, "%s    %s\n", name, termsafe.Text(s))
}
