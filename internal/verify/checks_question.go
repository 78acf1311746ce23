package verify

import (
	"context"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// Questions to the person, for agents that report them as events of their own:
// those of the model, or, where they report no others, the forms of an MCP
// server.

func questionPart() Part {
	return Part{
		Acts: []Act{{
			Name: "question", What: "a question to the person", Brings: kindIs(event.UserQuestion), Play: playQuestion,
			Cannot: noQuestion, AtTerminal: func(*agent.Agent, Driver) bool { return true },
		}},
		Checks: []Check{{
			ID: "deny-question", Proves: "a question is dismissed for the person, and the turn does not wait for one", Acts: []string{"question"},
			Applies: claimOn("deny", event.UserQuestion, false), Judge: judgeQuestion, Saboteur: forgetful,
		}},
	}
}

func noQuestion(a *agent.Agent, d Driver) string {
	if d.TUI == nil || d.Words.Question == nil && d.Forms == nil {
		return "no start is known in which this agent asks the person something"
	}
	return ""
}

func playQuestion(ctx context.Context, st *Stage) error {
	err := st.startHubWithHooks(func(ev *event.Event, _ int) event.Decision {
		if ev.Kind == event.UserQuestion {
			return event.Decision{Verdict: event.Deny, Reason: wordFor(wordReason, "question")}
		}
		return event.Decision{}
	})
	if err != nil {
		return err
	}
	ends := func(ctx context.Context, t *terminal) error {
		c, cancel := context.WithTimeout(ctx, st.patience*2/3)
		defer cancel()
		ended := func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil }
		for !st.watcher.hasPassed(ended) && !st.watcher.stuckAt(event.UserQuestion, questionPatience) && pauseFor(c, pollEvery) {
		}
		t.awaitStillness(ctx)
		return nil
	}
	if st.Driver.Forms != nil {
		return st.playForm(ctx, ends)
	}
	err = st.stageScene(Scene{Beats: []model.Beat{
		{Question: &model.Question{Header: "Colour", Text: "Which colour?", Options: []string{"red", "blue"}}}, {Say: lastWords},
	}})
	if err != nil {
		return err
	}
	return st.atTerminal(ctx, st.Driver.TUI(markedPrompt("Run it"), false), ends)
}

func judgeQuestion(p *Proof, s Subject) Result {
	e := p.Of("question")
	asked := e.Events(s.Event.Name)
	switch {
	case len(asked) == 0:
		return fails("", "no %s arrived", s.Event.Name)
	case len(asked[0].Decision.Degraded) > 0:
		return fails("The catalogue claims it, yet hookmux does not send it: a fault of hookmux", "not sent: %s", asked[0].Decision.Degraded[0])
	}
	for _, x := range e.Seen {
		if x.Event.Kind == event.TurnEnd {
			return holds("the question was dismissed, nobody was waited for")
		}
	}
	return fails("", "the question was dismissed, and the agent still waits for the person")
}
