package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *world) explainCommand() *cobra.Command {
	var (
		asJSON                              bool
		decision, reason, input, contextStr string
	)
	cmd := &cobra.Command{
		Use:   "explain AGENT EVENT < payload.json",
		Short: "Dry run: what an event becomes, who decides, the exact native answer",
		Long: `Reads a native payload on stdin and shows its way without leaving a trace: the
unified event, the hooks meant for it, the decision, what the agent cannot carry
(degraded), and the exact bytes and exit code the agent would get. hookmux's own
guards are asked and standing grants count; other hooks are listed, not run, and
where a person would be asked it says so. --decision supposes an answer.`,
		Example: `  hookmux explain claude PreToolUse < payload.json
  hookmux explain codex PreToolUse --decision deny --reason "why" --json < payload.json
  hookmux explain claude PreToolUse --decision modify --input '{"command":"ls"}' < payload.json`,
		Args: exactly("AGENT", "EVENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := wire.ExplainParams{Agent: args[0], Event: args[1], Cwd: w.cwd()}
			if decision != "" || reason != "" || input != "" || contextStr != "" {
				d, err := supposed(decision, reason, input, contextStr)
				if err != nil {
					return err
				}
				p.Decision = d
			}
			payload, err := w.payload("explain " + args[0] + " " + args[1])
			if err != nil {
				return err
			}
			p.Payload = payload
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			var result wire.Explained
			if err := c.Call(cmd.Context(), wire.MethodExplain, p, &result); err != nil {
				return err
			}
			if asJSON {
				return w.printJSON(result)
			}
			return w.showExplained(&result)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "{event, matched, decision, answer: {stdout, stderr, exitCode}, …}")
	cmd.Flags().StringVar(&decision, "decision", "", "suppose this decision: allow, deny, ask, modify, none")
	cmd.Flags().StringVar(&reason, "reason", "", "its reason")
	cmd.Flags().StringVar(&input, "input", "", "its changed input, a JSON object")
	cmd.Flags().StringVar(&contextStr, "context", "", "its added context")
	return cmd
}

// payload reads what an agent would send; a person who forgot it is told
// instead of being left to wait.
func (w *world) payload(command string) ([]byte, error) {
	if f, ok := w.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil, usage("no payload: give it on stdin, as in `hookmux %s < payload.json`", command)
	}
	return io.ReadAll(io.LimitReader(w.stdin, 16<<20))
}

func supposed(decision, reason, input, context string) (json.RawMessage, error) {
	v, err := event.ParseVerdict(decision)
	if err != nil {
		return nil, usage("--decision: %v", err)
	}
	d := event.Decision{Verdict: v, Reason: reason, Context: context, By: "--decision"}
	if input != "" {
		if !json.Valid([]byte(input)) || !strings.HasPrefix(strings.TrimSpace(input), "{") {
			return nil, usage("--input %q is no JSON object", input)
		}
		d.Input = json.RawMessage(input)
		if v == event.Allow || v == event.None {
			d.Allowed = v == event.Allow
			d.Verdict = event.Modify
		}
	}
	return json.Marshal(d)
}

func (w *world) showExplained(r *wire.Explained) error {
	var ev event.Event
	if err := json.Unmarshal(r.Event, &ev); err != nil {
		return err
	}
	var d event.Decision
	if err := json.Unmarshal(r.Decision, &d); err != nil {
		return err
	}
	w.say("event     %s %s → %s", termsafe.Line(ev.Agent, 40), termsafe.Line(ev.Native, 60), ev.Kind)
	if label := text.Label(&ev); label != "" {
		w.say("          %s", termsafe.Line(label, 160))
	}
	if ev.Session != "" {
		w.say("          session %s, cwd %s", termsafe.Line(ev.Session, 80), termsafe.Line(ev.Cwd, 160))
	}
	for _, n := range r.Notes {
		w.say("note      %s", termsafe.Line(n, 300))
	}
	if len(r.Matched) == 0 {
		w.say("hooks     none is meant for this event")
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
		}
		w.say("hooks     %s (%s, %s, %s): %s", termsafe.Line(m.ID, 60), m.Scope, m.Handler, m.Mode, termsafe.Line(state, 200))
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
	w.say("decision  %s", termsafe.Line(line, 300))
	for _, x := range r.Degraded {
		w.say("degraded  %s", termsafe.Line(x, 200))
	}
	w.say("answer    exit code %d", r.Answer.ExitCode)
	w.stream("stdout", r.Answer.Stdout)
	w.stream("stderr", r.Answer.Stderr)
	return nil
}

func (w *world) stream(name, s string) {
	if s == "" {
		w.say("%s    nothing", name)
		return
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(s), "          ", "  ") == nil {
		fmt.Fprintf(w.stdout, "%s    %s\n", name, termsafe.Text(b.String()))
		return
	}
	fmt.Fprintf(w.stdout, "%s    %s\n", name, termsafe.Text(s))
}
