package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// applyAnswer turns your answer into the decision.
func applyAnswer(d *event.Decision, said queue.UserAnswer) {
	if said.Verdict == event.Deny {
		answer := said.Answer
		d.Verdict, d.Reason, d.By, d.Answer = event.Deny, said.Reason, event.ByUser, &answer
		d.Input, d.Allowed = nil, false
		return
	}
	approveCall(d, said, event.ByUser)
}

// approveCall makes a decision a yes: to the call as it came, or as hooks changed
// it.
func approveCall(d *event.Decision, said queue.UserAnswer, by string) {
	answer := said.Answer
	d.Verdict, d.Reason, d.By, d.Answer = event.Allow, said.Reason, by, &answer
	if d.Input != nil {
		d.Verdict, d.Allowed = event.Modify, true
	}
}

// carryOver lets an answer given at an earlier event of the same call count
// again, with what hooks said this time.
func carryOver(now, said event.Decision) event.Decision {
	now.Verdict, now.Reason, now.By, now.Answer = said.Verdict, said.Reason, said.By, said.Answer
	switch {
	case said.Verdict == event.Deny:
		now.Input, now.Allowed = nil, false
	case now.Input != nil:
		now.Verdict, now.Allowed = event.Modify, true
	case said.Verdict == event.Modify:
		now.Verdict = event.Allow // the call comes changed already
	}
	return now
}

// rejectUncarriable refuses answers to a question that can't be passed to the agent: nothing
// would be answered, and the request would be gone.
func rejectUncarriable(agents *agent.Catalogue, r *queue.Request, said queue.UserAnswer) *wire.Error {
	if r.Need.Kind != policy.Question || said.Answer.Choice != event.ChooseAnswer {
		return nil
	}
	// A question that another program pushed is answered in that program's format.
	a, ok := agents.Agent(r.Event.Agent)
	if !ok {
		return nil
	}
	if point := a.Inbox.At(r.Event.Native); point == nil || !slices.Contains(point.Question, event.ChooseAnswer) {
		return nil
	}
	for _, less := range degradationsOf(agents, r, said) {
		if less.What == event.PartAllow && less.To == event.ToNone {
			return wire.Errorf(wire.CodeParams, "%s; answer it again, or skip it", less.Reason())
		}
	}
	return nil
}

// degradationsOf returns what part of an answer doesn't reach the agent, by encoding it once
// more.
func degradationsOf(agents *agent.Catalogue, r *queue.Request, said queue.UserAnswer) []event.Degradation {
	if r.Need.Kind == policy.Question && r.Need.Asked != "" {
		return nil // a hook asked, and hears everything
	}
	if r.Relayed { // in words that hold everything but what stands beside a yes
		if said.Verdict != event.Deny && said.Answer.Note != "" {
			return []event.Degradation{{What: event.PartContext, Why: event.NotCarried}}
		}
		return nil
	}
	var d event.Decision
	applyAnswer(&d, said)
	_, d = agents.Encode(r.Event, d)
	return d.Degraded
}

// degradationSentences says what part of your answer doesn't reach the agent. A note that is
// sent after the call isn't lost. Some agents ask about an edit in another shape than they
// report it in; a command stays the same.
func degradationSentences(agents *agent.Catalogue, r *queue.Request, said queue.UserAnswer) []string {
	a, _ := agents.EntryOf(r.Event.Agent, r.Event.Native)
	toldAfter := said.Answer.Note != "" && r.Event.Tool != nil && !r.Pushed && hearsAfterCall(a)
	var out []string
	for _, less := range degradationsOf(agents, r, said) {
		switch {
		case less.What != event.PartContext:
			out = append(out, less.String())
		case !toldAfter:
			out = append(out, "your note is dropped: "+less.Reason())
		case r.Event.Tool.Kind != event.Shell:
			out = append(out, "the agent gets your note after the call, if it reports the call as it asked about it")
		}
	}
	return out
}

// limitSkip says which limit kept a request from being opened.
func limitSkip(err error) services.Skip {
	switch {
	case errors.Is(err, queue.ErrTooManyOfSession):
		return services.TooManyOfSession
	case errors.Is(err, queue.ErrTooManyPushed):
		return services.TooManyPushed
	}
	return services.NotSkipped
}

// endWithoutAnswer applies the end of a request that wasn't answered to the decision. Mostly
// the decision stays as hooks left it, and the agent's own prompt follows.
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
				Reason: "the turn continued while the user was being asked about this call; try it again",
			}
		}
	}
	return services.NotSkipped
}

// keepNote keeps a text given with a yes that the agent can't receive with it.
func keepNote(notes *UserNotes, a *agent.Agent, c *services.Call, seen *event.Event, said queue.UserAnswer) {
	if said.Verdict != event.Deny && said.Answer.Note != "" && !c.Carries.Context && hearsAfterCall(a) {
		notes.Store(seen, said.Answer.Note)
	}
}

// changedInput returns the input of a call as hooks changed it, on one line; nil if they
// didn't.
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

// hearsAfterCall reports whether an agent can receive a text with the result of a call.
func hearsAfterCall(a *agent.Agent) bool {
	return a != nil && slices.ContainsFunc(a.Events, func(e *agent.EventSpec) bool {
		return e.Kind == event.ToolAfter && e.Install == agent.InstallDefault && e.Carries.Context != nil
	})
}

// addNote adds the text you gave with your yes to the result of the call.
func addNote(notes *UserNotes, c *services.Call) {
	if c.DryRun != nil || !c.Carries.Context {
		return
	}
	if words := notes.TakeOut(&c.Event); words != "" {
		c.Outcome.Decision.Context = strings.TrimSpace(c.Outcome.Decision.Context + "\nThe user who approved this call adds: " +
			words)
	}
}
