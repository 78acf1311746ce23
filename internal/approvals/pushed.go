package approvals

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
)

// Pushed is an event that a program pushed for an agent, with what a person
// would be asked.
type Pushed struct {
	Agent, Session string // as the program says, whoever pushes
	Name           string // of the event
	Cwd            string
	Payload        []byte
	Peer           proc.Cred
	Wait           time.Duration // how long a person may take; 0: nobody decides
	Key            string        // by which the program knows the request

	// Prepare completes the decoded event and says what a person would be asked;
	// false when nothing is to be decided.
	Prepare func(ev *event.Event) (policy.Need, bool)
	// AfterHooks sees what hooks said, may change it, and reports whether a
	// person must be asked.
	AfterHooks func(d *event.Decision) bool
}

// PushResult is what came of a pushed event.
type PushResult struct {
	ID        string // of the event
	Decided   bool   // else it was only taken in
	Withdrawn bool   // the hub stops: nothing was decided
	Decision  event.Decision
	Outcome   Outcome
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
