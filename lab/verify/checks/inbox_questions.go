package checks

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// tagQuestions are the questions that are answered from elsewhere.
const tagQuestions = "questions"

const (
	askedOne   = "Which colour?"
	askedTwo   = "Which shapes?"
	askedThree = "Which size?" // answered in the agent's own terminal
	planned    = "# Plan\n\n1. Do it well\n"
)

func runQuestions(ctx context.Context, st *testbed.TestBed) error {
	q := st.Driver.Questions
	option := func(label string) map[string]any { return map[string]any{"label": label, "description": label} }
	one := map[string]any{"question": askedOne, "header": "Colour", "multiSelect": false,
		"options": []any{option("red"), option("blue")}}
	two := map[string]any{"question": askedTwo, "header": "Shapes", "multiSelect": true, "multiple": true,
		"options": []any{option("round"), option("square"), option("flat")}}
	if q.IDs {
		one["id"], two["id"] = "colour", "shapes"
	}
	if q.Single {
		delete(two, "multiSelect")
		delete(two, "multiple")
	}
	calls := []model.ToolCall{model.Call(q.Tool, map[string]any{"questions": []any{one, two}})}
	if showsWindow(st.Agent) {
		three := map[string]any{"question": askedThree, "header": "Size", "multiSelect": false,
			"options": []any{option("small"), option("large")}}
		calls = append(calls, model.Call(q.Tool, map[string]any{"questions": []any{three}}))
	}
	if q.Plan != "" {
		calls = append(calls, q.PlanCalls(planned, 1)...)
	}
	st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}))
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	args := st.Driver.TUI(testbed.MarkedPrompt("Ask me"), true)
	if q.Args != nil {
		args = q.Args(testbed.MarkedPrompt("Ask me"))
	}
	p, err := AttachPerson(ctx, st) // before the agent: it may ask at once
	if err != nil {
		return err
	}
	defer p.Detach()
	return st.AtTerminal(ctx, args, func(ctx context.Context, t *testbed.Terminal) error {
		if !p.WasAsked("question", st.Patience) {
			t.KeepScreen()
			return nil
		}
		p.SendReply("question", wire.InboxReplyParams{Choice: string(event.ChooseAnswer),
			Answers: p.optionAnswers("question", map[string][]string{
				askedTwo: q.SecondAnswers(), askedOne: {"blue"},
			})})
		p.setAsideRequest("question", tagQuestions)
		if showsWindow(st.Agent) && p.WasAsked("question", st.Patience/4) {
			p.inWindow(t, "question", askedThree)
		}
		if q.Plan != "" {
			if !p.WasAsked("plan", st.Patience/4) {
				t.KeepScreen()
				return nil
			}
			p.SendReply("plan", wire.InboxReplyParams{Plan: string(event.PlanReject),
				Feedback: testbed.WordFor(testbed.WordReason, "plan")})
			p.setAsideRequest("plan", "plan-rejected")
			if !p.WasAsked("plan", st.Patience/4) {
				t.KeepScreen()
				return nil
			}
			p.SendReply("plan", wire.InboxReplyParams{Plan: string(event.PlanAuto),
				Feedback: testbed.WordFor(testbed.WordContext, "plan")})
		}
		c, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		st.Watcher.WaitForOne(c, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil })
		t.AwaitStillness(ctx)
		return nil
	})
}

// optionAnswers returns options for the questions of a request, chosen by their labels, named as
// the request names them.
func (p *RemotePerson) optionAnswers(tag string, options map[string][]string) []event.QuestionAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []event.QuestionAnswer
	for _, q := range p.Inbox.Asked[tag].Questions {
		out = append(out, event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: options[q.Text]})
	}
	return out
}

// setAsideRequest puts what is known of a request aside, so that the next of its kind is
// waited for.
func (p *RemotePerson) setAsideRequest(tag, as string) {
	p.waitUntil(5*time.Second, func() bool { return !p.gone[tag].IsZero() })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Inbox.Asked[as], p.Inbox.Ended[as], p.Inbox.Replies[as] = p.Inbox.Asked[tag], p.Inbox.Ended[tag], p.Inbox.Replies[tag]
	delete(p.Inbox.Asked, tag)
	delete(p.Inbox.Ended, tag)
	delete(p.Inbox.Replies, tag)
	delete(p.gone, tag)
}
