package approvals

import (
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
)

// newRequest makes a need into what is put to a person.
func (s *Service) newRequest(c *Call, seen *event.Event, need policy.Need, project string,
	hold time.Duration) queue.Request {
	ev := *seen // the pipeline goes on with its own
	now := time.Now()
	r := queue.Request{
		Need: need, Event: &ev, Project: project, Pushed: c.Pushed, Suggestions: ev.Suggestions,
		Opened: now, Until: now.Add(hold),
	}
	title := s.AgentTitle(ev.Agent)
	if a, ok := s.Catalogue.EntryOf(ev.Agent, ev.Native); ok {
		r.Number = a.Feed.NumberOf(&ev)
		if a.Feed.HoldAt(ev.Native) == agent.HoldBrief && hold <= time.Duration(a.Feed.Brief) {
			r.Hint = a.BriefHold()
		}
	}
	if need.Kind == policy.Permission && need.Offers(event.ChooseAlways) {
		if rule, err := policy.RuleFor(&ev); err != nil {
			r.NoRule = err.Error()
		} else {
			r.Rule = &rule
		}
	}
	if need.Veto {
		r.Note = title + " can only be refused here; otherwise its own rules apply"
	}
	sent := c.Event
	if seen == sent {
		sent = nil
	}
	queue.Show(&r, title, sent)
	return r
}
