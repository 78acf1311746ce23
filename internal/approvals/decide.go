package approvals

import (
	"context"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
)

// canAsk reports whether a person may be asked about an event of this kind at
// all.
func canAsk(k event.Kind) bool {
	return k == event.ToolBefore || k == event.PermissionRequest || k == event.UserQuestion || k == event.UserPlan
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
		d.Verdict, d.By = event.Ask, event.ByApprovalLevel
		d.Reason = "you chose to be asked about calls with side effects"
	}
}

// anyoneFor reports whether a question may wait for a person: somebody could answer,
// or somebody is told and the waiting costs nothing. Being told alone delays no agent
// whose own dialog is hidden meanwhile.
func anyoneFor(ctx context.Context, s *Service, c *Call, kind policy.Kind, limit time.Duration) bool {
	if s.attendance.expectAnyone(ctx, limit) {
		return true
	}
	return s.Notifies != nil && s.Notifies(c.Event.Agent, string(kind)) &&
		(c.Pushed || dialogStays(s.Catalogue, c.Event))
}

// dialogStays reports whether the agent's own dialog can be used while it is held.
func dialogStays(catalogue *agent.Catalogue, ev *event.Event) bool {
	a, ok := catalogue.Agent(ev.Agent)
	return ok && ev.Attended != event.AttendedNo && ev.Kind != event.ToolBefore &&
		a.Feed.HoldAt(ev.Native) == agent.HoldDeadline && a.Feed.WindowAt(ev.Native) != agent.WindowHidden
}
