package hookcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/tshook/pi"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

type tsHookTrial struct {
	event, agent, input, payload string
	answers                      []string
	timeout                      time.Duration
	asJSON, inspect              bool
}

func hookTestCommand(app *cmdutil.App) *cobra.Command {
	t := &tsHookTrial{}
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Try a TypeScript hook on one event",
		Long: `Runs a TypeScript hook on one event and shows what it would answer. Make the event
with --input, or pass an agent's payload with --payload. The hook really runs: what it
writes or starts is real.

FILE can be here, among this project's hooks, or among yours. --event is one of pi's
names: tool_call, tool_result, input, session_start, agent_end,
session_before_compact and so on. --input is what the event is about: {"command":…} or
{"path":…, "content":…} for a tool, {"prompt":…} or {"output":…} otherwise.`,
		Example: `  hookmux hooks test gate.ts --agent codex --input '{"command":"ls"}'
  hookmux hooks test gate.ts --input '{"path":".env"}' --answer yes --json
  hookmux hooks test gate.ts -a gemini --payload call.json --event BeforeTool`,
		Args: cmdutil.ExactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return testHook(app, cmd, t, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&t.event, "event", "tool_call", "pi's name for the event; with --payload the agent's own")
	f.StringVarP(&t.agent, "agent", "a", "claude", "the agent it happens in")
	f.StringVar(&t.input, "input", "", "what the event is about, as JSON")
	f.StringVar(&t.payload, "payload", "", "a file with one of the agent's payloads, - for stdin")
	f.StringArrayVar(&t.answers, "answer", nil, "answer the next dialog: yes, no, an option or a text; without it dialogs time out (repeatable)")
	f.DurationVar(&t.timeout, "timeout", time.Minute, "how long the agent would wait")
	f.BoolVar(&t.asJSON, "json", false, "print JSON")
	f.BoolVar(&t.inspect, "inspect", false, "run it in Node and wait for a debugger (Chrome, VS Code …) to attach")
	return cmd
}

func testHook(app *cmdutil.App, cmd *cobra.Command, t *tsHookTrial, file string) error {
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	path, err := findTSHook(app, dirs, file)
	if err != nil {
		return err
	}
	settings := config.New(config.Options{System: dirs.System, User: dirs.Config}).Settings()
	host := tshook.Host{Catalogue: catalogue, Version: version.String,
		HookTimeout: settings.Millis(config.HookTimeout)}
	if t.inspect {
		host.Inspect, host.Limits.Load = app.Stderr, inspectTime
		if !cmd.Flags().Changed("timeout") {
			t.timeout = inspectTime
		}
	}
	ev, err := trialEvent(app, t, catalogue, host)
	if err != nil {
		return err
	}
	trial := tshook.Trial{Source: tshook.Source{Path: path}, Event: ev, Answers: scriptedAnswers(t.answers),
		Timeout: t.timeout}
	if t.payload == "" {
		if trial.Name, err = pi.CurrentName(t.event, json.RawMessage(t.input)); err != nil {
			return cmdutil.UsageError("%v", err)
		}
	}
	tried := tshook.Try(cmd.Context(), host, trial)
	if silent := (*tshook.NotListeningError)(nil); errors.As(tried.Err, &silent) {
		return cmdutil.UsageError("%s: %v", file, silent)
	}
	decision := tried.Decision
	if tried.Err != nil && ev.Kind.Guarded() {
		decision = event.Decision{Verdict: event.Deny, Reason: tried.Err.Error()} // a guard fails closed
	}
	answer, carried := catalogue.Encode(ev, decision)
	if t.asJSON {
		return trialJSON(app, &tried, ev, carried,
			wire.Answer{Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit})
	}
	showTrial(app, &tried, ev, carried, answer.Stdout, answer.Exit)
	if tried.Err != nil {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

// findTSHook returns the file that is meant: as named from here, or a name in this
// project's folder of hooks or in their own.
func findTSHook(app *cmdutil.App, dirs paths.Dirs, file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	places := []string{path}
	named := filepath.Base(file) == file
	if named && filepath.Ext(file) == "" {
		file += ".ts" // as `hookmux hooks on` and `hooks new` take it
	}
	if named {
		for at := app.Cwd(); at != "" && at != filepath.Dir(at); at = filepath.Dir(at) {
			places = append(places, filepath.Join(at, filepath.FromSlash(trust.TSHookDir), file))
		}
		places = append(places, filepath.Join(dirs.Config, "hooks", file))
	}
	for _, place := range places {
		if info, err := os.Stat(place); err == nil && !info.IsDir() {
			return place, nil
		}
	}
	if len(places) > 1 {
		return "", cmdutil.UsageError("there's no file %s here or among your hooks", file)
	}
	return "", cmdutil.UsageError("there's no file %s", file)
}

// inspectTime is how long you may take with a debugger.
const inspectTime = 8 * time.Hour

// trialEvent makes the event up, or reads it.
func trialEvent(app *cmdutil.App, t *tsHookTrial, catalogue *agent.Catalogue, host tshook.Host) (*event.Event,
	error) {
	a, ok := catalogue.Agent(t.agent)
	if !ok {
		return nil, cmdutil.UnknownAgent(catalogue, t.agent)
	}
	if t.payload == "" {
		engine := tshook.New(host)
		defer engine.Close()
		ev, err := engine.Sample(a.Name, t.event, app.Cwd(), json.RawMessage(t.input))
		if err != nil {
			return nil, cmdutil.UsageError("%v", err)
		}
		return ev, nil
	}
	if t.input != "" {
		return nil, cmdutil.UsageError("use --input or --payload, not both")
	}
	var payload []byte
	var err error
	if t.payload == "-" {
		payload, err = app.ReadPayload("hooks test")
	} else {
		if payload, err = os.ReadFile(t.payload); err != nil {
			err = cmdutil.FileError(t.payload, err)
		}
	}
	if err != nil {
		return nil, err
	}
	if _, known := a.Event(t.event); !known {
		return nil, cmdutil.UsageError("%s has no event %q; `hookmux hooks discover %s` lists them", a.Name, t.event,
			a.Name)
	}
	ev := catalogue.Decode(agent.Input{ID: "trial", Time: time.Now(), Agent: a.Name, Event: t.event, Payload: payload,
		Cwd: app.Cwd(), Env: func(string) string { return "" }})
	if ev.Malformed != "" {
		return nil, cmdutil.UsageError("the payload can't be read: %s", ev.Malformed)
	}
	return &ev, nil
}

func scriptedAnswers(words []string) []tshook.Answer {
	var list []tshook.Answer
	for _, word := range words {
		list = append(list, tshook.Answer{Confirmed: word == "yes", Value: word, Cancelled: word == "cancel",
			By: "--answer"})
	}
	return list
}

func trialJSON(app *cmdutil.App, t *tshook.Tried, ev *event.Event, d event.Decision, answer wire.Answer) error {
	type question struct {
		Kind    tshook.QuestionKind `json:"kind"`
		Title   string              `json:"title"`
		Text    string              `json:"text,omitempty"`
		Options []string            `json:"options,omitempty"`
	}
	out := struct {
		Event    *event.Event     `json:"event"`
		Decision event.Decision   `json:"decision"`
		Answer   wire.Answer      `json:"answer"`
		Inner    json.RawMessage  `json:"inner,omitempty"` // what pi gets for an event inside it
		Error    string           `json:"error,omitempty"`
		TookMS   float64          `json:"tookMs"`
		Console  []string         `json:"console"`
		Notices  []string         `json:"notices"`
		Asked    []question       `json:"asked"`
		Did      []string         `json:"did"`
		Sent     []string         `json:"sent"`
		Problems []tshook.Problem `json:"problems"`
		TSHook   tshook.Info      `json:"file"`
	}{Event: ev, Decision: d, Answer: answer, Inner: t.Inner, TookMS: float64(t.Took.Microseconds()) / 1000,
		Console: nonNil(t.Console), Notices: nonNil(t.Notices),
		Asked: []question{}, Did: []string{}, Sent: []string{}, Problems: nonNil(t.Problems), TSHook: t.Info}
	if t.Err != nil {
		out.Error = t.Err.Error()
	}
	for _, q := range t.Asked {
		out.Asked = append(out.Asked, question{q.Kind, q.Title, q.Text, q.Options})
	}
	for _, d := range t.Actions {
		out.Did = append(out.Did, strings.TrimSpace(d.Action+" "+d.Detail))
	}
	for _, m := range t.Sent {
		out.Sent = append(out.Sent, m.Text)
	}
	if err := app.PrintJSON(out); err != nil {
		return err
	}
	if t.Err != nil {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func showTrial(app *cmdutil.App, t *tshook.Tried, ev *event.Event, d event.Decision, stdout string, exit int) {
	show := func(what, value string) { app.Say("%-9s %s", what, termsafe.Line(value, 2000)) }
	show("event", ev.Agent+" "+ev.Native+" ("+string(ev.Kind)+")")
	show("listens", strings.Join(t.Info.Events, ", "))
	if t.Err != nil {
		show("failed", t.Err.Error())
	}
	for i := range t.Problems {
		show("error", t.Problems[i].Error())
		for frame := range strings.SplitSeq(t.Problems[i].Stack, "\n") {
			if frame = strings.TrimSpace(frame); frame != "" {
				show("", frame)
			}
		}
	}
	result := d.Verdict.Word()
	if d.Reason != "" {
		result += ": " + d.Reason
	}
	show("result", result)
	if t.Inner != nil {
		show("answer", "pi gets "+string(t.Inner))
	}
	if d.Input != nil {
		show("input", string(d.Input))
	}
	if d.Output != nil {
		show("output", string(d.Output))
	}
	if d.Context != "" {
		show("context", d.Context)
	}
	for _, lost := range d.Degraded {
		show("degraded", lost.String())
	}
	show("answer", fmt.Sprintf("exit %d, %s", exit, orNothing(stdout)))
	show("took", fmt.Sprintf("%.2f ms, loaded in %.2f ms", float64(t.Took.Microseconds())/1000,
		float64(t.Info.LoadTime)))
	for _, q := range t.Asked {
		show("asked", strings.TrimSpace(q.Title+" "+q.Text+" "+strings.Join(q.Options, " | ")))
	}
	for _, n := range t.Notices {
		show("notice", n)
	}
	for _, c := range t.Console {
		show("console", c)
	}
	for _, one := range t.Actions {
		show("did", strings.TrimSpace(one.Action+" "+one.Detail+" "+one.Err))
	}
	for _, m := range t.Sent {
		show("sent", m.Text)
	}
	for _, l := range t.Info.Limits {
		if l.Agent == ev.Agent || l.Agent == hook.Any {
			show("lacks", l.Text)
		}
	}
}

func orNothing(s string) string {
	if strings.TrimSpace(s) == "" {
		return "nothing on stdout"
	}
	return s
}
