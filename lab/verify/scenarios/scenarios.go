// Package scenarios holds turns of real agents with what a user in front of the screen would say
// about them: what the session does at some moments, how its turn went, what it is called. The same
// terms apply to every agent. They are written down before anything runs; a run compares them with
// what hookmux says and records what the agent reported, for tests that need no agent.
package scenarios

import (
	"context"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/timeline"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Scenario is one session.
type Scenario struct {
	Name  string
	About string
	// Strict starts the agent so that it asks for permission.
	Strict bool
	// Cannot returns why an agent can't run it; empty: it can.
	Cannot func(st *testbed.TestBed) string
	// Script is the model's work for the first prompt; Later for a second one.
	Script func(st *testbed.TestBed) []model.Step
	Later  func(st *testbed.TestBed) []model.Step
	Decide testbed.Decide
	// PersonDoes is the user's part after the first prompt.
	PersonDoes func(ctx context.Context, p *person)
	// End is typed when it is over.
	End timeline.Want
}

const firstPrompt = "Mend the login page"

// titles returns what a session of the first prompt may be called: by the prompt, or by
// the title that the agent had its model make.
func titles(st *testbed.TestBed) []string {
	return append(slices.Clone(dialogsOf(st.Driver.Name).Titles), testbed.MarkedPrompt(firstPrompt))
}

func wantEnd(status, result string, failed, denied int) timeline.Want {
	w := timeline.NewWant(status)
	if result != "" {
		w = withResult(w, result)
	}
	w.Failed, w.Denied, w.Turns = failed, denied, 1
	return w
}

func runStep(st *testbed.TestBed, command string) model.Step {
	return model.Step{Calls: []model.ToolCall{st.Table.Shell.Call(command)}}
}

func ask(st *testbed.TestBed, command string) model.Step {
	return model.Step{Calls: []model.ToolCall{st.EscalateCall(st.Table.Shell.Call(command))}}
}

var lastWords = model.Step{Say: testbed.LastWords}

// All returns the scenarios.
func All() []Scenario {
	return append(append(freeScenarios(), longerScenarios()...), askingScenarios()...)
}

// freeScenarios need no leave.
func freeScenarios() []Scenario {
	return []Scenario{
		{
			Name: "words", About: "the agent only speaks", End: wantEnd(wire.StatusDone, wire.ResultOK, 0, 0),
			Script: func(*testbed.TestBed) []model.Step {
				return []model.Step{{Say: testbed.LastWords, Delay: 4 * time.Second}}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitModel(ctx)
				p.expectStatus(ctx, wire.StatusRunning)
			},
		},
		{
			Name: "command", About: "one command that succeeds", End: wantEnd(wire.StatusDone, wire.ResultOK, 0, 0),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "touch ran-one; sleep 4"), lastWords}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitFile(ctx, "ran-one")
				p.expectStatus(ctx, wire.StatusRunning)
			},
		},
		{
			Name: "mended", About: "a command fails, the next one succeeds",
			End: wantEnd(wire.StatusDone, wire.ResultOK, 1, 0),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "touch ran-bad; exit 3"), runStep(st, "touch ran-good"), lastWords}
			},
		},
		{
			Name: "broken", About: "the last command fails, and the model has the last word",
			End: wantEnd(wire.StatusDone, wire.ResultOK, 1, 0),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "touch ran-good"), runStep(st, "touch ran-bad; exit 3"), lastWords}
			},
		},
		{
			Name: "search", About: "a search that finds nothing did not fail",
			End: wantEnd(wire.StatusDone, wire.ResultOK, 0, 0),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "grep -r no-such-word-anywhere ."), lastWords}
			},
		},
		{
			Name: "refused", About: "the model's service refuses the request",
			End: withResult(wantEnd(wire.StatusFailed, wire.ResultAPIError, -1, 0), wire.ResultAPIError),
			Script: func(*testbed.TestBed) []model.Step {
				return []model.Step{
					{Fail: &model.Fail{Status: 400, Type: "invalid_request_error", Message: "scripted failure"}},
				}
			},
		},
		{
			Name: "thinking-stopped", About: "Esc while the model thinks",
			End: wantEnd(wire.StatusIdle, wire.ResultInterrupted, 0, 0),
			Script: func(*testbed.TestBed) []model.Step {
				return []model.Step{{Say: "Too late.", Delay: 25 * time.Second}}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitModel(ctx)
				p.expectStatus(ctx, wire.StatusRunning)
				p.stop(ctx)
			},
		},
		{
			Name: "command-stopped", About: "Esc while a command runs",
			End: wantEnd(wire.StatusIdle, wire.ResultInterrupted, 0, -1),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "touch ran-long; sleep 30"), lastWords}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitFile(ctx, "ran-long")
				p.expectStatus(ctx, wire.StatusRunning)
				p.stop(ctx)
			},
		},
		{
			Name: "guarded", About: "hookmux refuses a call, the agent goes on",
			End: wantEnd(wire.StatusDone, wire.ResultOK, 0, 1),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "touch ran-never"), lastWords}
			},
			Decide: refuseTools,
		},
	}
}

// longerScenarios go beyond one turn of the agent itself.
func longerScenarios() []Scenario {
	return []Scenario{
		{
			Name: "two-turns", About: "a turn whose command fails, then one that succeeds", End: timeline.Want{
				Status: []string{wire.StatusDone}, Result: []string{wire.ResultOK}, Failed: 0, Denied: 0, Turns: 2,
			},
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "touch ran-bad; exit 3"), lastWords}
			},
			Later: func(st *testbed.TestBed) []model.Step {
				return []model.Step{runStep(st, "touch ran-later"),
					lastWords}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitEnd(ctx)
				p.wantNow(withResult(timeline.NewWant(wire.StatusDone), wire.ResultOK))
				p.prompt(ctx, "Try again "+model.Mark("later"))
				p.awaitFile(ctx, "ran-later")
			},
		},
		{
			Name: "quit", About: "the user leaves", End: timeline.Want{
				Status: []string{wire.StatusDone}, Failed: 0, Denied: 0, Turns: 1, Ended: true,
			},
			Cannot: func(st *testbed.TestBed) string {
				if st.Driver.Quit == "" || st.Driver.NoEnd != "" {
					return "its end is not reported"
				}
				return ""
			},
			Script: func(*testbed.TestBed) []model.Step { return []model.Step{lastWords} },
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitEnd(ctx)
				p.wantNow(timeline.NewWant(wire.StatusDone))
				p.prompt(ctx, p.st.Driver.Quit)
			},
		},
		{
			Name: "helper", About: "a helper works for the session",
			End: wantEnd(wire.StatusDone, wire.ResultOK, 0, 0),
			Cannot: func(st *testbed.TestBed) string {
				if st.Driver.Subagent == nil {
					return "it has no helpers, or none that is known"
				}
				return ""
			},
			Script: func(st *testbed.TestBed) []model.Step { return append(st.SubagentSteps(), lastWords) },
		},
	}
}

func withResult(w timeline.Want, result string) timeline.Want {
	w.Result = splitWords(result)
	return w
}

// refuseTools returns a hook that denies every call of a tool.
func refuseTools(ev *event.Event, _ int) event.Decision {
	if ev.Kind == event.ToolBefore {
		return event.Decision{Verdict: event.Deny, Reason: "not today"}
	}
	return event.Decision{}
}

// askingScenarios have the agent ask the user.
func askingScenarios() []Scenario {
	asks := func(st *testbed.TestBed) string {
		if st.Driver.Prompts == "" && !dialogsOf(st.Driver.Name).Asks {
			return "it asks nobody by itself"
		}
		return ""
	}
	questions := func(st *testbed.TestBed) string {
		if !dialogsOf(st.Driver.Name).AsksQuestions() {
			return "it is not known to ask questions here"
		}
		return ""
	}
	return []Scenario{
		{
			Name: "allowed", About: "yes at the agent's own prompt", Strict: true, Cannot: asks,
			End: wantEnd(wire.StatusDone, wire.ResultOK, 0, 0),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{ask(st, "touch ran-allowed; sleep 5"), lastWords}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitDialog(ctx)
				p.expectStatus(ctx, wire.StatusWaiting)
				p.press(ctx, p.dialogs.Yes)
				p.awaitFile(ctx, "ran-allowed")
				p.noteAnswerSeen(ctx)
				p.expectStatus(ctx, wire.StatusRunning)
			},
		},
		{
			Name: "declined", About: "no at the agent's own prompt", Strict: true, Cannot: asks,
			End: wantEnd("idle|success", "interrupted|ok", 0, -1),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{ask(st, "touch ran-declined"), lastWords}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitDialog(ctx)
				p.expectStatus(ctx, wire.StatusWaiting)
				p.press(ctx, p.dialogs.No)
			},
		},
		{
			Name: "allowed-broken", About: "yes to a command that fails", Strict: true, Cannot: asks,
			End: wantEnd(wire.StatusDone, wire.ResultOK, 1, 0),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{ask(st, "touch ran-allowed; sleep 2; exit 3"), lastWords}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitDialog(ctx)
				p.expectStatus(ctx, wire.StatusWaiting)
				p.press(ctx, p.dialogs.Yes)
				p.awaitFile(ctx, "ran-allowed")
				p.noteAnswerSeen(ctx)
			},
		},
		{
			Name: "allowed-stopped", About: "yes, then Esc while the command runs", Strict: true, Cannot: asks,
			End: wantEnd(wire.StatusIdle, wire.ResultInterrupted, 0, -1),
			Script: func(st *testbed.TestBed) []model.Step {
				return []model.Step{ask(st, "touch ran-allowed; sleep 30"), lastWords}
			},
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitDialog(ctx)
				p.expectStatus(ctx, wire.StatusWaiting)
				p.press(ctx, p.dialogs.Yes)
				p.awaitFile(ctx, "ran-allowed")
				p.noteAnswerSeen(ctx)
				p.expectStatus(ctx, wire.StatusRunning)
				p.stop(ctx)
			},
		},
		{
			Name: "answered", About: "a question answered in the agent's own terminal", Strict: true, Cannot: questions,
			End:    wantEnd(wire.StatusDone, wire.ResultOK, 0, 0),
			Script: askQuestion,
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitDialog(ctx)
				p.expectStatus(ctx, wire.StatusWaiting)
				p.press(ctx, p.dialogs.Choose)
			},
		},
		{
			Name: "unanswered", About: "a question that the user waves away", Strict: true, Cannot: questions,
			End:    wantEnd("idle|success", "interrupted|ok", 0, -1),
			Script: askQuestion,
			PersonDoes: func(ctx context.Context, p *person) {
				p.awaitDialog(ctx)
				p.expectStatus(ctx, wire.StatusWaiting)
				p.press(ctx, p.dialogs.No)
			},
		},
	}
}

func askQuestion(st *testbed.TestBed) []model.Step {
	return []model.Step{{Calls: []model.ToolCall{dialogsOf(st.Driver.Name).Question()}}, lastWords}
}
