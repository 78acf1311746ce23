package hook

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/event"
)

// LogOnly is a hook that only logs, with the event as the hooks before it
// left it.
type LogOnly struct {
	Entry *Entry
	Event *event.Event
	Extra json.RawMessage // what hooks before it said in the agent's own words
	Again bool            // a second look, at the changed input
}

// LogOnly runs the hooks in log mode. What they decide is recorded in the steps and
// has no effect: no later hook sees it, and no decision uses it.
func (d *Dispatcher) LogOnly(ctx context.Context, call Call, list []LogOnly) []Step {
	var steps []Step
	for _, m := range list {
		opinion, step := d.runHook(ctx, &call, m.Event, m.Entry, m.Extra)
		step.Verdict, step.Again = event.None, m.Again
		if !opinion.Empty() {
			step.Would = &opinion
		}
		steps = append(steps, step)
	}
	return steps
}
