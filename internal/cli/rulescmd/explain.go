package rulescmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install/importer"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// payloadFlags are the flags of `hookmux why AGENT EVENT < payload`.
type payloadFlags struct {
	run                              bool
	decision, reason, input, context string
}

// explainPayload shows what becomes of a native payload on stdin, without leaving a trace.
func explainPayload(app *cmdutil.App, cmd *cobra.Command, f *payloadFlags, agentName, eventName string, asJSON bool) error {
	native, err := NativeEvent(app, agentName, eventName)
	if err != nil {
		return err
	}
	p := wire.ExplainParams{Agent: agentName, Event: native, Cwd: app.Cwd()}
	if f.decision != "" || f.reason != "" || f.input != "" || f.context != "" {
		if p.Decision, err = parseSupposedDecision(f.decision, f.reason, f.input, f.context); err != nil {
			return err
		}
	}
	payload, err := app.ReadPayload("why " + agentName + " " + eventName)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(payload)) == 0 {
		return cmdutil.UsageError("no payload on stdin; pipe one in: `hookmux why %s %s < payload.json`", agentName, eventName)
	}
	if !json.Valid(payload) {
		var any any
		return cmdutil.JSONError("stdin", payload, json.Unmarshal(payload, &any))
	}
	p.Payload = payload
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	method := wire.MethodExplain
	if f.run {
		if p.Decision != nil {
			return cmdutil.UsageError("use --run or --decision, not both")
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
}

// NativeEvent finds the agent's own event for what you call it: its
// native name, a kind, or agent-mux's name. Anything else is a mistake, and
// must not look like an event that no hook stops.
func NativeEvent(app *cmdutil.App, agentName, hookType string) (string, error) {
	catalogue, err := app.Catalogue()
	if err != nil {
		return "", err
	}
	a, ok := catalogue.Agent(agentName)
	if !ok {
		return "", cmdutil.UnknownAgent(catalogue, agentName)
	}
	if _, ok := a.Event(hookType); ok {
		return hookType, nil
	}
	kind := event.Kind(hookType)
	if !kind.Known() {
		name, ok := importer.KindOf(hookType)
		if !ok {
			var known []string
			for _, e := range a.Events {
				known = append(known, e.Name)
			}
			return "", cmdutil.UnknownName(a.Name+" event", hookType, known, "hookmux hooks discover "+a.Name)
		}
		kind = event.Kind(name)
	}
	for _, e := range a.Events {
		if e.Kind == kind {
			return e.Name, nil
		}
	}
	return "", cmdutil.UsageError("%s has no event of kind %s; `hookmux hooks discover %s` lists what it has",
		agentName, kind, agentName)
}

func parseSupposedDecision(decision, reason, input, context string) (json.RawMessage, error) {
	v, err := event.ParseVerdict(decision)
	if err != nil {
		return nil, cmdutil.UnknownName("decision", decision, []string{"allow", "deny", "ask", "modify", "none"}, "")
	}
	d := event.Decision{Verdict: v, Reason: reason, Context: context, By: event.BySupposed}
	if input != "" {
		if !json.Valid([]byte(input)) || !strings.HasPrefix(strings.TrimSpace(input), "{") {
			return nil, cmdutil.UsageError("--input %q isn't a JSON object", input)
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
		app.Say("hooks     no hook listens to this event")
	}
	for _, m := range r.Matched {
		state := "would run"
		switch {
		case m.Error != "":
			state = "failed: " + m.Error
		case m.Ran:
			state = "said " + m.Verdict
		case !m.Matches:
			state = "doesn't match this call"
		case m.LogOnly:
			state = "only logs"
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
		app.Say("hooks     %s (%s, %s): %s", termsafe.Line(m.ID, 60), kind, m.Role, termsafe.Line(state, 200))
	}
	var examination examine.Examination
	if len(r.Examination) > 0 && json.Unmarshal(r.Examination, &examination) == nil {
		SayExamination(app, &examination)
	}
	if len(r.Unknown) > 0 {
		app.Say("decision  %s", termsafe.Line(unknownDecision(r), 300))
		app.Say("answer    unknown")
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

// unknownDecision says which hooks would decide and did not run.
func unknownDecision(r *wire.Explained) string {
	line := "unknown: " + strings.Join(r.Unknown, ", ") + " didn't run"
	for _, m := range r.Matched {
		if slices.Contains(r.Unknown, m.ID) &&
			(m.Handler == "command" || m.Handler == "script") {
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
