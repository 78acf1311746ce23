package approvals

import (
	"context"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
)

// canAsk reports whether a person may be asked about an event of this kind at
// all.
func canAsk(k event.Kind) bool {
	return k == event.ToolBefore || k == event.PermissionRequest || k == event.UserQuestion || k == event.UserPlan
}

// Decide lets a grant or a person decide about a call where one must. It comes
// after guards and hooks, and holds the agent only while somebody could answer.
func (s *Service) Decide(ctx context.Context, c *Call) Outcome {
	if c.Event.Kind == event.ToolAfter {
		addNote(&s.notes, c)
	}
	if !canAsk(c.Event.Kind) || c.Skipped != services.NotSkipped {
		return Outcome{Skipped: c.Skipped}
	}
	seen, need, spec := s.mustAsk(c)
	if spec == nil || s.answeredBefore(c, seen, spec) {
		return Outcome{}
	}
	hold := func() time.Duration {
		hold, chosen := s.Settings.HoldTime(c.Event)
		wait := agent.Wait{Setting: hold, Chosen: chosen, Away: s.attendance.isAway()}
		return spec.HoldFor(c.Event.Native, time.Until(c.Deadline), wait)
	}
	out, handled := s.grantOrAsk(ctx, c, question{seen: seen, need: need, hold: hold})
	if !handled {
		askInWindow(c, spec)
	}
	return out
}

// answeredBefore lets what a person said about the same call at an earlier
// event count again.
func (s *Service) answeredBefore(c *Call, seen *event.Event, spec *agent.Feed) bool {
	served, repeated := s.answered.Take, s.repeats.Remember
	if c.dryRun() {
		served, repeated = s.answered.Peek, s.repeats.Knows
	}
	if said, ok := served(seen); ok {
		*c.Decision = carryOver(*c.Decision, said)
		c.explain("a person was asked about this call before, and what they said counts")
		return true
	}
	if spec.Repeats && repeated(seen) {
		c.explain("a person was asked about this call before; it is not put to anybody again")
		return true
	}
	return false
}

// DecidePushed lets a grant or a person decide about what a program pushed. It
// waits as long as the program said; key is by which the program knows it.
func (s *Service) DecidePushed(ctx context.Context, c *Call, need policy.Need, wait time.Duration, key string) Outcome {
	if d := c.Decision; d.Verdict == event.Ask {
		need = need.AskedBy(d.By, d.Reason)
	}
	if level, _ := s.Settings.ApprovalLevel(c.Event); c.Skipped != services.NotSkipped || level == policy.Off {
		return Outcome{Skipped: c.Skipped}
	}
	hold := func() time.Duration { return wait }
	out, _ := s.grantOrAsk(ctx, c, question{seen: c.Event, need: need, hold: hold, key: key, relayed: true})
	return out
}

// question is what is put to grants and people, however it came in.
type question struct {
	seen *event.Event // as hooks changed it
	need policy.Need
	hold func() time.Duration // how long it may wait from now
	key  string               // by which a program that pushed it knows it
	// relayed: the program that pushed it is told the answer.
	relayed bool
}

// grantOrAsk lets a grant answer, else a person. It is false when nobody is
// there, or too much waits for them already.
func (s *Service) grantOrAsk(ctx context.Context, c *Call, q question) (Outcome, bool) {
	project := c.Project
	if project == "" {
		project = s.Settings.RepositoryOf(c.Event.Cwd)
	}
	granted := s.grants.Match
	if c.dryRun() {
		granted = s.grants.Find
	}
	if grant, ok := granted(q.seen, project, q.need, time.Now()); ok {
		approveCall(c.Decision, queue.Said{Answer: event.Answer{Choice: event.ChooseAlways}}, "grant "+grant.ID)
		c.explain("grant " + grant.ID + " lets it pass; `hookmux allow list` shows it")
		return Outcome{}, true
	}
	if q.need.Decider == policy.AgentDecides {
		c.explain(s.AgentTitle(c.Event.Agent) + "'s own reviewer decides; no person is asked")
		return Outcome{Skipped: services.AgentReviews}, true
	}
	if c.dryRun() {
		if q.hold() > 0 {
			c.explain("a person would be asked in the feed, while one is there: " + choiceWords(q.need))
		}
		return Outcome{}, anyoneFor(ctx, s, c, q.need.Kind, 0)
	}
	if !anyoneFor(ctx, s, c, q.need.Kind, time.Until(c.Deadline)/2) {
		return Outcome{}, false
	}
	hold := q.hold()
	if hold <= 0 {
		return Outcome{}, true
	}
	r := s.newRequest(c, q.seen, q.need, project, hold)
	r.Key, r.Relayed = q.key, q.relayed
	out := s.waitForPerson(ctx, c, r, q.seen)
	return out, out.Asked != nil // else too many wait already
}

// choiceWords is what a person could say.
func choiceWords(need policy.Need) string {
	r := queue.Request{Need: need}
	return strings.Join(append(r.Words(), "release"), ", ")
}

// askInWindow puts a call that nobody elsewhere could answer to the person at
// the agent, where the agent has no prompt of its own and the user wants to be
// asked: no opinion would let it run.
func askInWindow(c *Call, spec *agent.Feed) {
	d := c.Decision
	if spec.Promptless && c.Carries.Ask && c.Event.Attended == event.AttendedYes && d.Verdict != event.Ask {
		d.Verdict, d.By, d.Reason = event.Ask, "gate", "you chose to be asked about calls with side effects"
	}
}
