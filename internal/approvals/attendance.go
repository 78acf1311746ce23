package approvals

import (
	"context"
	"sync/atomic"
	"time"
)

// attendance knows whether anybody could answer.
type attendance struct {
	surfaces  atomic.Int32 // streams of requests that somebody looks at
	sinks     atomic.Int32 // ways by which a program tells a person elsewhere
	polls     polls        // programs that ask for the list again and again
	away      *awayFlag
	watchers  *watchers
	pushWorks func() bool // the user's own command tells them of requests
}

// anyoneThere reports whether anybody could answer: somebody looks at the requests,
// is told of them where they are, or said that they went away and want them
// kept.
func (a *attendance) anyoneThere() bool {
	return a.surfaces.Load() > 0 || a.sinks.Load() > 0 || a.isAway() || a.pushWorks() || a.polls.anyone(time.Now())
}

func (a *attendance) isAway() bool { return a.away.now.Load() != nil }

// expectAnyone is anyoneThere, and waits for those who followed the hub before this one
// and are not back yet, no longer than limit.
func (a *attendance) expectAnyone(ctx context.Context, limit time.Duration) bool {
	if !a.anyoneThere() {
		a.watchers.awaitReturn(ctx, limit)
	}
	return a.anyoneThere()
}
