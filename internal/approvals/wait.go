package approvals

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/memory"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
)

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
				Verdict: event.Deny, By: event.ByHookmux,
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
