package approvals

import (
	"time"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
)

// Outcome is the result of a call.
type Outcome struct {
	Asked   *Asked        // the request that was put to a person; nil for none
	Skipped services.Skip // why nobody was asked who should have been
}

// Asked is a request that you were asked to answer.
type Asked struct {
	Request string
	End     queue.End
	Took    time.Duration
}
