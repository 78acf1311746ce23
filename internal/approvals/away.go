package hub

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// awayState says that the person is not at their agents' windows: requests are
// held as long as agents let them. It is kept on disk, so that a hub which
// comes back does not forget it.
type awayState struct {
	Since time.Time `json:"since"`
	Hits  uint64    `json:"-"` // calls that grants had let pass before
}

func (d *desk) awayFile() string { return filepath.Join(d.deps.Dirs.State, "away.json") }

func (d *desk) loadAway() {
	b, err := os.ReadFile(d.awayFile())
	if err != nil {
		return
	}
	var s awayState
	if json.Unmarshal(b, &s) == nil {
		d.away.Store(&s)
	}
}

func (h *Hub) doAway(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if err := read(params, &struct{}{}); err != nil {
		return nil, err
	}
	d := h.desk
	s := &awayState{Since: time.Now(), Hits: d.grants.Hits()}
	if old := d.away.Load(); old != nil {
		s = old
	}
	d.away.Store(s)
	b, _ := json.Marshal(s)
	if err := os.WriteFile(d.awayFile(), b, 0o600); err != nil {
		h.deps.Problems.Raise("away", "you are away, but that could not be written down: "+err.Error(), "say it again after the hub restarts")
	}
	return wire.AwayInfo{Away: true, Since: &s.Since}, nil
}

// doBack ends being away and says what happened meanwhile.
func (h *Hub) doBack(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if err := read(params, &struct{}{}); err != nil {
		return nil, err
	}
	d := h.desk
	s := d.away.Swap(nil)
	h.deps.Problems.Mend("away")
	if s != nil {
		h.letBack()
	}
	if err := os.Remove(d.awayFile()); err != nil && !os.IsNotExist(err) {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	digest := wire.Digest{Waiting: d.table.Items(false), Ended: []wire.FeedItem{}}
	if s == nil {
		return digest, nil
	}
	digest.WasAway, digest.Since = true, &s.Since
	h.happened(s, &digest)
	return digest, nil
}

// letBack: requests that hide the agent's own dialog were held as long as the
// hook may take. The person is at the window again, so these wait no longer
// than they would have without being away; there is time to answer them here.
func (h *Hub) letBack() {
	now := time.Now()
	h.desk.table.Shorten(func(r *queue.Request) time.Time {
		a, ok := h.deps.Catalogue.Agent(r.Event.Agent)
		if !ok || a.Feed == nil || a.Feed.HoldAt(r.Event.Native) == agent.HoldDeadline {
			return time.Time{}
		}
		return now.Add(h.rules.wait(r.Event))
	})
}
