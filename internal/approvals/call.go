package approvals

import (
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
)

// Call is one event that a permission or a person may decide about.
type Call struct {
	Event    *event.Event
	Decision *event.Decision // what hooks said; a person's answer is put into it
	Carries  event.Carries
	Project  string        // whose hooks count for the event; "" for none
	Deadline time.Time     // until when the agent waits
	Pushed   bool          // by a program, not by a hook
	Skipped  services.Skip // why nobody is asked any more

	// OnGone calls cancel when the caller hangs up, until stop; may be nil.
	OnGone func(cancel func()) (stop func())
	// OnHeld tells a caller that shows a dialog of its own that a person is
	// asked; may be nil.
	OnHeld func(request, why string, input []byte)
	// OnSent has do done once the caller has its answer.
	OnSent func(do func())
	// Explain is set when the event is only looked at: nothing is used up or
	// put to anybody, and Explain hears what would be done.
	Explain func(note string)
}

func (c *Call) dryRun() bool { return c.Explain != nil }

func (c *Call) explain(note string) {
	if c.Explain != nil {
		c.Explain(note)
	}
}

// Outcome is what came of a call.
type Outcome struct {
	Asked   *Asked        // the request that was put to a person; nil for none
	Skipped services.Skip // why nobody was asked who should have been
}

// Asked is a request that was put to a person.
type Asked struct {
	Request string
	End     queue.End
	Took    time.Duration
}
