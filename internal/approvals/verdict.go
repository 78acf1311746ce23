package approvals

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
)

// applyAnswer makes a person's answer the decision.
func applyAnswer(d *event.Decision, said queue.Said) {
	if said.Verdict == event.Deny {
		answer := said.Answer
		d.Verdict, d.Reason, d.By, d.Answer = event.Deny, said.Reason, event.ByPerson, &answer
		d.Input, d.Allowed = nil, false
		return
	}
	approveCall(d, said, event.ByPerson)
}

// approveCall makes a decision a yes: to the call as it came, or as hooks changed
// it.
func approveCall(d *event.Decision, said queue.Said, by string) {
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
