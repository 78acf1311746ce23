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

// shapes is the answer to the second question.
func (q *Questions) shapes() []string {
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
	if windowed(st.Agent) {
		three := map[string]any{"question": askedThree, "header": "Size", "multiSelect": false, "options": []any{option("small"), option("large")}}
		calls = append(calls, model.Call(q.Tool, map[string]any{"questions": []any{three}}))
	}
	if q.Plan != "" {
		plan := model.Call(q.Plan, map[string]any{"plan": planned})
		calls = append(calls, plan, plan)
	}
	st.script(append(steps(calls...), model.Step{Say: lastWords}))
	if err := st.ready(nil); err != nil {
		return err
	}
	args := st.Driver.TUI(prompt("Ask me"), true)
	if q.Args != nil {
		args = q.Args(prompt("Ask me"))
	}
	p, err := st.attach(ctx) // before the agent: it may ask at once
	if err != nil {
		return err
	}
	defer p.leave()
	return st.atTerminal(ctx, args, func(ctx context.Context, t *terminal) error {
		if !p.asked("question", st.patience) {
			t.keep()
			return nil
		}
		p.reply("question", wire.FeedReplyParams{Choice: string(event.ChooseAnswer), Answers: p.answers("question", map[string][]string{
			askedTwo: q.shapes(), askedOne: {"blue"},
		})})
		p.again("question", tagQuestions)
		if windowed(st.Agent) && p.asked("question", st.patience/4) {
			p.inWindow(t, "question", askedThree)
		}
		if q.Plan != "" {
			if !p.asked("plan", st.patience/4) {
				t.keep()
				return nil
			}
			p.reply("plan", wire.FeedReplyParams{Plan: string(event.PlanReject), Feedback: worded(wordReason, "plan")})
			p.again("plan", "plan-rejected")
			if !p.asked("plan", st.patience/4) {
				t.keep()
				return nil
			}
			p.reply("plan", wire.FeedReplyParams{Plan: string(event.PlanAuto), Feedback: worded(wordContext, "plan")})
		}
		c, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		st.watcher.wait(c, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil })
		t.settle(ctx)
		return nil
	})
}

// answers are options for the questions of a request, by their words, named as
// the request names them.
func (p *elsewhere) answers(tag string, options map[string][]string) []event.QuestionAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []event.QuestionAnswer
	for _, q := range p.feed.Asked[tag].Questions {
		out = append(out, event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: options[q.Text]})
	}
	return out
}

// again puts what is known of a request aside, so that the next of its kind is
// waited for.
func (p *elsewhere) again(tag, as string) {
	p.until(5*time.Second, func() bool { return !p.gone[tag].IsZero() })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.feed.Asked[as], p.feed.Ended[as], p.feed.Replies[as] = p.feed.Asked[tag], p.feed.Ended[tag], p.feed.Replies[tag]
	delete(p.feed.Asked, tag)
	delete(p.feed.Ended, tag)
	delete(p.feed.Replies, tag)
	delete(p.gone, tag)
}
