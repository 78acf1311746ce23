package approvals

import (
	"context"
	"errors"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
)

// Pushed is an event that a program pushed for an agent, with what you would be asked.
type Pushed struct {
	Agent, Session string // as the program says, whoever pushes
	Name           string // of the event
	Cwd            string
	Payload        []byte
	Peer           proc.Cred
	Wait           time.Duration // how long a person may take; 0: nobody decides
	Key            string        // by which the program knows the request

	// Prepare completes the decoded event and returns what you would be asked; false if
	// there is nothing to decide.
	Prepare func(ev *event.Event) (policy.Need, bool)
	// AfterHooks sees what hooks said, may change it, and reports whether a
	// person must be asked.
	AfterHooks func(d *event.Decision) bool
}

// PushResult is the result of a pushed event.
type PushResult struct {
	ID        string // of the event
	Decided   bool   // else it was only taken in
	Withdrawn bool   // the daemon stops: nothing was decided
	Decision  event.Decision
	Outcome   Outcome
}

// DecidePushed lets a permission or you decide about what a program pushed. It waits as long
// as the program said; key is the program's name for it.
func (s *Service) DecidePushed(ctx context.Context, c *services.Call, need policy.Need, wait time.Duration, key string) Outcome {
	if d := &c.Outcome.Decision; d.Verdict == event.Ask {
		need = need.AskedBy(d.By, d.Reason)
	}
	if level, _ := s.Settings.ApprovalLevel(&c.Event); c.Skipped != services.NotSkipped || policy.Level(level) == policy.Off {
		return Outcome{Skipped: c.Skipped}
	}
	waitFor := func() time.Duration { return wait }
	out, _ := s.permissionOrAsk(ctx, c, question{seen: &c.Event, need: need, waitFor: waitFor, key: key, relayed: true})
	return out
}

// ErrNobody says that no one is there to answer.
var ErrNobody = errors.New("no one is there to answer; run `hookmux inbox -f` in a terminal, or `hookmux away`")

// ErrCancelled says that the user did not answer: they refused, released it,
// or time was over.
var ErrCancelled = errors.New("the user gave no answer")

// AskUser asks you a hook's question and returns your answer: the chosen option, "yes" or
// "no", or your own text.
func (s *Service) AskUser(ctx context.Context, ev *event.Event, q queue.Question) (string, error) {
	if !s.attendance.expectAnyone(ctx, returnsWithin) {
		return "", ErrNobody
	}
	waitFor, _ := s.Settings.WaitTime(ev)
	until := time.Now().Add(waitFor)
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
		ByHook: true, ForYes: q.AsksForYes(),
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
		ticket.ConfirmDelivered()
	}
	if result.End != queue.Answered || result.UserAnswer.Verdict == event.Deny ||
		len(result.UserAnswer.Answer.Answers) == 0 {
		return "", ErrCancelled
	}
	return result.UserAnswer.Answer.Answers[0].Words(), nil
}
