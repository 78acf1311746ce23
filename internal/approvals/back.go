package approvals

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// goAway notes that the person is away: requests are held as long as agents let
// them.
func (s methods) goAway(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if err := services.ReadParams(params, &struct{}{}); err != nil {
		return nil, err
	}
	state, err := s.attendance.away.set(s.grants.Hits())
	if err != nil {
		s.Problems.Raise("away", "you are away, but that could not be written down: "+err.Error(),
			"say it again after the hub restarts")
	}
	return wire.AwayInfo{Away: true, Since: &state.Since}, nil
}

// comeBack ends being away and says what happened meanwhile.
func (s methods) comeBack(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if err := services.ReadParams(params, &struct{}{}); err != nil {
		return nil, err
	}
	state := s.attendance.away.now.Swap(nil)
	s.Problems.Mend("away")
	if state != nil {
		s.shortenHolds()
	}
	if err := s.attendance.away.clearFile(); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	digest := wire.Digest{Waiting: s.queue.Items(false), Ended: []wire.FeedItem{}}
	if state == nil {
		return digest, nil
	}
	digest.WasAway, digest.Since = true, &state.Since
	s.addEnded(state, &digest)
	return digest, nil
}

// shortenHolds: requests that hide the agent's own dialog were held as long as
// the hook may take. The person is at the window again, so these wait no longer
// than they would have without being away; there is time to answer them here.
func (s methods) shortenHolds() {
	now := time.Now()
	s.queue.Shorten(func(r *queue.Request) time.Time {
		a, ok := s.Catalogue.EntryOf(r.Event.Agent, r.Event.Native)
		if !ok || a.Feed == nil || a.Feed.HoldAt(r.Event.Native) == agent.HoldDeadline {
			return time.Time{}
		}
		hold, chosen := s.Settings.HoldTime(r.Event)
		return now.Add(a.Feed.HoldFor(r.Event.Native, hold, agent.Wait{Setting: hold, Chosen: chosen}))
	})
}
