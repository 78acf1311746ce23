package approvals

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/memory"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
)

// waitForPerson opens a request, waits until it ends and takes a person's
// answer into the decision. The answer comes from [Service.Reply], through the
// queue.
func (s *Service) waitForPerson(ctx context.Context, c *Call, r queue.Request, seen *event.Event) Outcome {
	s.Recorder.WakeJournal() // who watches wants to see what is being asked
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ticket, err := s.queue.Open(r)
	if skip := crowdSkip(err); skip != services.NotSkipped {
		s.crowding.reportLimit(&r, skip)
		return Outcome{Skipped: skip}
	}
	if err != nil {
		return Outcome{Asked: &Asked{End: queue.HubStops}}
	}
	var left atomic.Bool
	if c.OnGone != nil {
		stop := c.OnGone(func() { left.Store(true); cancel() })
		defer stop()
	}
	if c.OnHeld != nil {
		c.OnHeld(ticket.ID(), r.Need.Why, changedInput(seen))
	}
	s.watchAgent(ctx, ticket, c.Event)
	began := time.Now()
	result := ticket.Wait(ctx)
	s.crowding.takeBackFor(&r)
	out := Outcome{Asked: &Asked{Request: result.ID, End: result.End, Took: time.Since(began)}}
	if result.End == queue.Answered {
		c.OnSent(ticket.Passed)
		applyAnswer(c.Decision, result.Said)
		s.answered.Keep(seen, *c.Decision)
		a, _ := s.Catalogue.Agent(c.Event.Agent)
		keepNote(&s.notes, a, c, seen, result.Said)
		return out
	}
	out.Skipped = endWithoutAnswer(c.Decision, result.End, left.Load())
	return out
}

// crowdSkip says which limit kept a request from being opened.
func crowdSkip(err error) services.Skip {
	switch {
	case errors.Is(err, queue.ErrCrowded):
		return services.SessionCrowded
	case errors.Is(err, queue.ErrFlooded):
		return services.PushesCrowded
	}
	return services.NotSkipped
}

// endWithoutAnswer is what becomes of a decision when nobody answered.
func endWithoutAnswer(d *event.Decision, end queue.End, callerLeft bool) services.Skip {
	switch end {
	case queue.HookGone, queue.AgentGone:
		if callerLeft {
			return services.CallerLeft
		}
	case queue.Overrun:
		if callerLeft {
			return services.CallerLeft
		}
		// The hook still waits, so what was reported is not about this call, or
		// not true. A turn that is really over loses nothing by a no.
		if d.Verdict != event.Ask {
			*d = event.Decision{
				Verdict: event.Deny, By: "hookmux",
				Reason: "the turn went on while a person was asked about this call; try it again",
			}
		}
	}
	return services.NotSkipped
}

// keepNote keeps words beside a yes that the agent cannot hear with it.
func keepNote(notes *memory.Notes, a *agent.Agent, c *Call, seen *event.Event, said queue.Said) {
	if said.Verdict != event.Deny && said.Answer.Note != "" && !c.Carries.Context && hearsAfterCall(a) {
		notes.Keep(seen, said.Answer.Note)
	}
}

// changedInput is the input of a call as hooks changed it, on one line; nil
// when nobody did.
func changedInput(ev *event.Event) []byte {
	if ev.Tool == nil || ev.Tool.Changed == nil {
		return nil
	}
	var line bytes.Buffer
	if json.Compact(&line, ev.Tool.Changed) != nil {
		return nil
	}
	return line.Bytes()
}
