package approvals

import (
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// refuseUnsayable refuses answers to a question that the agent could not be told: nothing
// would be answered then, and the request gone.
func refuseUnsayable(agents *agent.Catalogue, r *queue.Request, said queue.Said) *wire.Error {
	if r.Need.Kind != policy.Question || said.Answer.Choice != event.ChooseAnswer {
		return nil
	}
	// A question that another program pushed is answered in that one's words.
	a, ok := agents.Agent(r.Event.Agent)
	if !ok {
		return nil
	}
	if point := a.Feed.At(r.Event.Native); point == nil || !slices.Contains(point.Question, event.ChooseAnswer) {
		return nil
	}
	for _, less := range lossesOf(agents, r, said) {
		if less.What == event.PartAllow && less.To == event.ToNone {
			return wire.Errorf(wire.CodeParams, "%s; answer it again, or release it", less.Reason())
		}
	}
	return nil
}

// lossesOf is what of an answer does not reach the agent: it is put into the
// agent's words once more to see.
func lossesOf(agents *agent.Catalogue, r *queue.Request, said queue.Said) []event.Degradation {
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

// lossSentences tells the person what of their answer does not reach the agent.
// A note that is told after the call is not lost. Some agents ask about an edit
// in another shape than they report it in; a command stays the same.
func lossSentences(agents *agent.Catalogue, r *queue.Request, said queue.Said) []string {
	a, _ := agents.EntryOf(r.Event.Agent, r.Event.Native)
	toldAfter := said.Answer.Note != "" && r.Event.Tool != nil && !r.Pushed && hearsAfterCall(a)
	var out []string
	for _, less := range lossesOf(agents, r, said) {
		switch {
		case less.What != event.PartContext:
			out = append(out, less.String())
		case !toldAfter:
			out = append(out, "your words beside it are dropped: "+less.Reason())
		case r.Event.Tool.Kind != event.Shell:
			out = append(out, "your words beside it are told after the call, if the agent reports it as it asked "+
				"about it")
		}
	}
	return out
}
