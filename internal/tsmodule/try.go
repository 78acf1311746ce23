package tsmodule

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tsmodule/pi"
)

// Trial is one event to try a file with.
type Trial struct {
	Source Source
	// Event is shown as the hub would show it; see [Sample] for one made up.
	Event *event.Event
	// Answers are given to dialogs, in order; when they run out, nobody
	// answers.
	Answers []Answer
	Timeout time.Duration // zero means a minute
}

// Tried is what came of a [Trial].
type Tried struct {
	Info     Info
	Decision event.Decision // as the agent would be told, before its dialect writes it
	Err      error          // the file did not load, or failed as a guard would
	Took     time.Duration
	Console  []string // level: text
	Notices  []string
	Asked    []Question
	Deeds    []Deed
	Sent     []Message
	Problems []Problem
}

// Try loads a file in an engine of its own and gives it one event, with scripted
// answers. Nothing is remembered; files and processes it touches are
// real.
func Try(ctx context.Context, host Host, trial Trial) Tried {
	w := &scriptedPerson{answers: trial.Answers}
	host.Asker, host.Sender, host.Recorder, host.Changed = w, w, w, nil
	e := New(host)
	defer e.Close()
	if trial.Timeout <= 0 {
		trial.Timeout = time.Minute
	}
	trial.Source.Watch = false
	m, err := e.Load(ctx, trial.Source)
	var t Tried
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, trial.Timeout)
		defer cancel()
		began := time.Now()
		t.Decision, err = m.Handle(ctx, &hook.Call{Event: trial.Event, Hook: &hook.Registration{ID: filepath.Base(trial.Source.Path), Handler: "module"}, Carries: e.host.Catalogue.CarriesFor(trial.Event)})
		t.Took = time.Since(began)
		t.Decision = t.Decision.Settled()
	}
	if m != nil {
		t.Info = m.Info()
	}
	t.Err = err
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Console, t.Notices, t.Asked, t.Deeds, t.Sent, t.Problems = w.console, w.notices, w.asked, w.deeds, w.sent, w.problems
	return t
}

// scriptedPerson answers dialogs from a list and records what the hook did.
type scriptedPerson struct {
	mu       sync.Mutex
	answers  []Answer
	console  []string
	notices  []string
	asked    []Question
	deeds    []Deed
	sent     []Message
	problems []Problem
}

func (w *scriptedPerson) Ask(ctx context.Context, q Question) (Answer, error) {
	w.mu.Lock()
	w.asked = append(w.asked, q)
	if len(w.answers) > 0 {
		a := w.answers[0]
		w.answers = w.answers[1:]
		w.mu.Unlock()
		return a, nil
	}
	w.mu.Unlock()
	return Answer{Cancelled: true}, nil
}

func (w *scriptedPerson) Someone(*event.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.answers) > 0 || len(w.asked) > 0
}

func (w *scriptedPerson) Notify(n Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, n.Level+": "+n.Text)
}

func (w *scriptedPerson) Send(_ context.Context, m Message) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, m)
	return true, nil
}

func (w *scriptedPerson) Did(d Deed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deeds = append(w.deeds, d)
}

func (w *scriptedPerson) Problem(p Problem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, p)
}

func (w *scriptedPerson) Said(_, level, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.console = append(w.console, level+": "+strings.TrimRight(text, "\n"))
}

// Sample makes up an event for one of pi's, as the given agent would report
// it. Input is the tool's, in pi's words or the agent's: {"command":…} or
// {"path":…}; for other events {"prompt":…}, {"message":…}, {"reason":…}.
func (e *Engine) Sample(agentName, piEvent, cwd string, input json.RawMessage) (*event.Event, error) {
	a, ok := e.host.Catalogue.Agent(agentName)
	if !ok {
		return nil, fmt.Errorf("%s is no agent hookmux knows", agentName)
	}
	in := pi.ParseObject(input)
	if in == nil {
		if len(strings.TrimSpace(string(input))) > 0 {
			return nil, fmt.Errorf("the input must be a JSON object like {\"command\":\"ls\"}")
		}
		in = pi.Object{}
	}
	kind := kindFor(piEvent)
	if spec, own := a.Event(piEvent); own && kind == "" && a.Dialect == piDialect {
		kind = spec.Kind // an event of pi alone
	}
	if kind == "" {
		return nil, fmt.Errorf("%s is no event that can be made up; try tool_call, tool_result, input or session_start", piEvent)
	}
	ev := &event.Event{ID: "trial", Time: time.Now(), Agent: a.Name, Kind: kind, Session: "trial", Cwd: cwd, Prompt: asString(in["prompt"]), Message: asString(in["message"]), Detail: asString(in["reason"]), Attended: event.AttendedYes}
	if text := asString(in["text"]); ev.Prompt == "" {
		ev.Prompt = text
	}
	if _, own := a.Event(piEvent); own && a.Dialect == piDialect && kind == event.Other {
		ev.Native = piEvent
	}
	for _, spec := range a.Events {
		if spec.Kind == kind && ev.Native == "" {
			ev.Native = spec.Name
		}
	}
	if ev.Native == "" {
		return nil, fmt.Errorf("%s reports nothing like %s", a.Title, piEvent)
	}
	if kind != event.ToolBefore && kind != event.ToolAfter {
		return withPiFields(ev, a, in), nil
	}
	output := orElse(asString(in["output"]), "(no output)")
	if kind == event.ToolAfter {
		delete(in, "output") // it belongs to the result, not to the input
	}
	tool, err := sampleTool(a.Tools, in)
	if err != nil {
		return nil, err
	}
	if kind == event.ToolAfter {
		tool.Output = pi.Encode(output)
	}
	ev.Tool = tool
	e.host.Catalogue.WithInput(ev, tool.Input)
	ev.Tool.Changed = nil
	return ev, nil
}

// withPiFields adds the payload that pi itself would send: a hook receives those
// fields unchanged.
func withPiFields(ev *event.Event, a *agent.Agent, in pi.Object) *event.Event {
	if a.Dialect != piDialect {
		return ev
	}
	own := pi.Object{"type": ev.Native}
	for key, value := range in {
		own[key] = value
	}
	if ev.Kind == event.TurnStart {
		own["text"], own["source"] = ev.Prompt, "interactive"
	}
	if ev.Kind == event.SessionStart && own["reason"] == nil {
		own["reason"] = "startup"
	}
	if ev.Kind == event.SessionEnd && own["reason"] == nil {
		own["reason"] = "quit"
	}
	ev.Raw = pi.Encode(pi.Object{"event": own, "ctx": pi.Object{"cwd": ev.Cwd, "sessionId": ev.Session}})
	return ev
}

func kindFor(piEvent string) event.Kind {
	name, reason, _ := strings.Cut(piEvent, ":")
	if name == "session" {
		name = map[string]string{"": "session_start", "start": "session_start", "shutdown": "session_shutdown", "before_compact": "session_before_compact", "compact": "session_compact"}[reason]
	}
	for _, kind := range event.Kinds() {
		for _, n := range byKind[kind] {
			if n == name {
				return kind
			}
		}
	}
	return ""
}
