package hub

import (
	"context"
	"errors"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
)

// ErrNobody says that nobody is there to answer.
var ErrNobody = errors.New("nobody is there to answer; `hookmux feed --watch` in a terminal, or `hookmux away`")

// ErrCancelled says that the person did not answer: they refused, released it,
// or time was over.
var ErrCancelled = errors.New("the person gave no answer")

// Someone reports whether a person could answer a question now.
func (h *Hub) Someone() bool { return h.desk.someone() }

// AskPerson puts a question of a hook to a person and gives their answer: the
// chosen option, "yes" or "no", or own words.
func (h *Hub) AskPerson(ctx context.Context, ev *event.Event, q queue.Question) (string, error) {
	if !h.desk.someone() {
		h.desk.watchers.await(ctx, returnsWithin)
	}
	if !h.desk.someone() {
		return "", ErrNobody
	}
	until := time.Now().Add(h.rules.wait(ev))
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) || h.desk.away.Load() != nil && ok {
		until = deadline
	}
	about := *ev
	about.Questions, about.Plan, about.Suggestions = []event.Inquiry{q.Inquiry()}, "", nil
	r := queue.Request{
		Need: policy.Need{
			Kind: policy.Question, Choices: []event.Choice{event.ChooseAnswer, event.ChooseDeny}, Asked: q.By, Why: q.Title,
		},
		Event: &about, Project: h.rules.projectOf(ev.Cwd), Opened: time.Now(), Until: until,
	}
	title := ev.Agent
	if a, ok := h.deps.Catalogue.Agent(ev.Agent); ok {
		title = a.Title
	}
	queue.Show(&r, title, nil)
	ticket, err := h.desk.table.Open(r)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h.desk.guardAgent(ctx, ticket, &about)
	result := ticket.Wait(ctx)
	if result.End == queue.Answered {
		ticket.Passed()
	}
	if result.End != queue.Answered || result.Said.Verdict == event.Deny || len(result.Said.Answer.Answers) == 0 {
		return "", ErrCancelled
	}
	return result.Said.Answer.Answers[0].Words(), nil
}
