package checks

import (
	"context"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Questions to the user, for agents that report them as events of their own: those of the model, or, if
// they report no others, the forms of an MCP server.

func questionGroup() CheckGroup {
	return CheckGroup{
		Runs: []AgentRun{{
			Name: "question", What: "a question to the user", Brings: kindIs(event.UserQuestion),
			Execute: runQuestion,
			Cannot:  noQuestion, AtTerminal: func(*agent.Agent, drivers.Driver) bool { return true },
		}},
		Checks: []Check{{
			ID: "deny-question", Proves: "a hook dismisses a question, and the turn doesn't wait",
			Runs:    []string{"question"},
			Applies: claimOn("deny", event.UserQuestion, false), Evaluate: evaluateQuestion, Breakage: forgetful,
		}},
	}
}

func noQuestion(_ *agent.Agent, d drivers.Driver) string {
	if d.TUI == nil || d.Words.Question == nil && d.Forms == nil {
		return "no start is known in which this agent asks the user something"
	}
	return ""
}

func runQuestion(ctx context.Context, st *testbed.TestBed) error {
	err := st.StartDaemonWithHooks(func(ev *event.Event, _ int) event.Decision {
		if ev.Kind == event.UserQuestion {
			return event.Decision{Verdict: event.Deny, Reason: testbed.WordFor(testbed.WordReason, "question")}
		}
		return event.Decision{}
	})
	if err != nil {
		return err
	}
	ends := func(ctx context.Context, t *testbed.Terminal) error {
		c, cancel := context.WithTimeout(ctx, st.Patience*2/3)
		defer cancel()
		ended := func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil }
		testbed.WaitUntil(c, pollEvery, func() bool {
			return st.Watcher.HasPassed(ended) || st.Watcher.StuckAt(event.UserQuestion, questionPatience)
		})
		t.AwaitStillness(ctx)
		return nil
	}
	if st.Driver.Forms != nil {
		return runForm(ctx, st, ends)
	}
	err = st.SetTurnScript(testbed.TurnScript{Steps: []model.ScriptStep{
		{Question: &model.Question{Header: "Colour", Text: "Which colour?", Options: []string{"red", "blue"}}},
		{Say: testbed.LastWords},
	}})
	if err != nil {
		return err
	}
	return st.AtTerminal(ctx, st.Driver.TUI(testbed.MarkedPrompt("Run it"), false), ends)
}

func evaluateQuestion(p *Proof, s Subject) Result {
	e := p.Of("question")
	asked := e.Events(s.Event.Name)
	switch {
	case len(asked) == 0:
		return FailsBecause("", "no %s arrived", s.Event.Name)
	case len(asked[0].Decision.Degraded) > 0:
		return FailsBecause("The catalogue claims it, yet hookmux does not send it: a fault of hookmux", "not sent: %s",
			asked[0].Decision.Degraded[0])
	}
	for _, x := range e.Seen {
		if x.Event.Kind == event.TurnEnd {
			return HoldsBecause("the question was dismissed, nobody was waited for")
		}
	}
	return FailsBecause("", "the question was dismissed, and the agent still waits for the user")
}
