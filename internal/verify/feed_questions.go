package verify

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// Questions says how an agent is brought to ask.
type Questions struct {
	// Args starts it so that it may; nil: as in a strict start.
	Args func(prompt string) []string
	// Tool is the tool with which the model asks, in the form that Claude Code
	// introduced.
	Tool string
	// IDs says that its questions have ids.
	IDs bool
	// Single says that of several options only one can be chosen.
	Single bool
	// Told is how the model reads an answer: question, then answer.
	Told string
	// Plan is the tool with which the model puts a plan forward; "" when there
	// is none to be answered.
	Plan string
	// Modes are the permission modes it is in after a plan was accepted, by how
	// it was.
	Modes map[event.PlanMode]string
}

// secondAnswers is the answer to the second question.
func (q *Questions) secondAnswers() []string {
	if q.Single {
		return []string{"flat"}
	}
	return []string{"round", "flat"}
}

// tagQuestions are the questions that are answered from elsewhere.
const tagQuestions = "questions"

const (
	askedOne   = "Which colour?"
	askedTwo   = "Which shapes?"
	askedThree = "Which size?" // answered in the agent's own window
	planned    = "# Plan\n\n1. Do it well\n"
)

func playQuestions(ctx context.Context, st *Stage) error {
	q := st.Driver.Questions
	option := func(label string) map[string]any { return map[string]any{"label": label, "description": label} }
	one := map[string]any{"question": askedOne, "header": "Colour", "multiSelect": false, "options": []any{option("red"), option("blue")}}
	two := map[string]any{"question": askedTwo, "header": "Shapes", "multiSelect": true, "multiple": true, "options": []any{option("round"), option("square"), option("flat")}}
	if q.IDs {
		one["id"], two["id"] = "colour", "shapes"
	}
	if q.Single {
		delete(two, "multiSelect")
		delete(two, "multiple")
	}
	calls := []model.ToolCall{model.Call(q.Tool, map[string]any{"questions": []any{one, two}})}
	if showsWindow(st.Agent) {
		three := map[string]any{"question": askedThree, "header": "Size", "multiSelect": false, "options": []any{option("small"), option("large")}}
		calls = append(calls, model.Call(q.Tool, map[string]any{"questions": []any{three}}))
	}
	if q.Plan != "" {
		plan := model.Call(q.Plan, map[string]any{"plan": planned})
		calls = append(calls, plan, plan)
	}
	st.setScript(append(callSteps(calls...), model.Step{Say: lastWords}))
	if err := st.startHubWithHooks(nil); err != nil {
		return err
	}
	args := st.Driver.TUI(markedPrompt("Ask me"), true)
	if q.Args != nil {
		args = q.Args(markedPrompt("Ask me"))
	}
	p, err := st.attachPerson(ctx) // before the agent: it may ask at once
	if err != nil {
		return err
	}
	defer p.detach()
	return st.atTerminal(ctx, args, func(ctx context.Context, t *terminal) error {
		if !p.wasAsked("question", st.patience) {
			t.keepScreen()
			return nil
		}
		p.sendReply("question", wire.FeedReplyParams{Choice: string(event.ChooseAnswer), Answers: p.optionAnswers("question", map[string][]string{
			askedTwo: q.secondAnswers(), askedOne: {"blue"},
		})})
		p.setAsideRequest("question", tagQuestions)
		if showsWindow(st.Agent) && p.wasAsked("question", st.patience/4) {
			p.inWindow(t, "question", askedThree)
		}
		if q.Plan != "" {
			if !p.wasAsked("plan", st.patience/4) {
				t.keepScreen()
				return nil
			}
			p.sendReply("plan", wire.FeedReplyParams{Plan: string(event.PlanReject), Feedback: wordFor(wordReason, "plan")})
			p.setAsideRequest("plan", "plan-rejected")
			if !p.wasAsked("plan", st.patience/4) {
				t.keepScreen()
				return nil
			}
			p.sendReply("plan", wire.FeedReplyParams{Plan: string(event.PlanAuto), Feedback: wordFor(wordContext, "plan")})
		}
		c, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		st.watcher.waitForOne(c, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil })
		t.awaitStillness(ctx)
		return nil
	})
}

// optionAnswers are options for the questions of a request, by their words, named as
// the request names them.
func (p *elsewhere) optionAnswers(tag string, options map[string][]string) []event.QuestionAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []event.QuestionAnswer
	for _, q := range p.feed.Asked[tag].Questions {
		out = append(out, event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: options[q.Text]})
	}
	return out
}

// setAsideRequest puts what is known of a request aside, so that the next of its kind is
// waited for.
func (p *elsewhere) setAsideRequest(tag, as string) {
	p.waitUntil(5*time.Second, func() bool { return !p.gone[tag].IsZero() })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.feed.Asked[as], p.feed.Ended[as], p.feed.Replies[as] = p.feed.Asked[tag], p.feed.Ended[tag], p.feed.Replies[tag]
	delete(p.feed.Asked, tag)
	delete(p.feed.Ended, tag)
	delete(p.feed.Replies, tag)
	delete(p.gone, tag)
}
