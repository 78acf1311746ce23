package approvals

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

// AskPerson puts a question of a hook to a person and gives their answer: the
// chosen option, "yes" or "no", or own words.
func (s *Service) AskPerson(ctx context.Context, ev *event.Event, q queue.Question) (string, error) {
	if !s.attendance.expectAnyone(ctx, returnsWithin) {
		return "", ErrNobody
	}
	hold, _ := s.Settings.HoldTime(ev)
	until := time.Now().Add(hold)
	if deadline, ok := ctx.Deadline(); ok && (deadline.Before(until) || s.attendance.isAway()) {
		until = deadline
	}
	about := *ev
	about.Questions, about.Plan, about.Suggestions = []event.Inquiry{q.Inquiry()}, "", nil
	r := queue.Request{
		Need: policy.Need{
			Kind: policy.Question, Choices: []event.Choice{event.ChooseAnswer, event.ChooseDeny}, Asked: q.By,
			Why: q.Title,
		},
		Event: &about, Project: s.Settings.ProjectOf(ev.Cwd), Opened: time.Now(), Until: until,
		ByHook: true,
	}
	queue.Show(&r, s.AgentTitle(ev.Agent), nil)
	ticket, err := s.queue.Open(r)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.watchAgent(ctx, ticket, &about)
	result := ticket.Wait(ctx)
	if result.End == queue.Answered {
		ticket.Passed()
	}
	if result.End != queue.Answered || result.Said.Verdict == event.Deny || len(result.Said.Answer.Answers) == 0 {
		return "", ErrCancelled
	}
	return result.Said.Answer.Answers[0].Words(), nil
}
