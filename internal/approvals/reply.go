package approvals

import (
	"errors"
	"fmt"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Reply lets a person answer a request. What they say is on record in the
// ledger before the agent hears it.
func (s *Service) Reply(p wire.FeedReplyParams, peer proc.Cred) (wire.FeedReplyResult, *wire.Error) {
	item, err := s.queue.Find(p.ID)
	if err != nil {
		var none *queue.NotFoundError
		if errors.As(err, &none) && len(none.Like) > 0 {
			return wire.FeedReplyResult{}, wire.Errorf(wire.CodeParams, "%v", err)
		}
		return wire.FeedReplyResult{ID: p.ID, Outcome: string(queue.Unknown), Why: err.Error()}, nil
	}
	p.ID = item.ID
	r, waits := s.queue.Request(item.ID)
	if !waits {
		item, _ = s.queue.Find(item.ID)
		return addWindow(tooLate(item), s.Sessions.Waiting()), nil
	}
	if p.SHA256 != "" && p.SHA256 != r.Hash {
		return wire.FeedReplyResult{}, wire.Errorf(wire.CodeConflict,
			"what you saw is not what request %s asks for; look at it again", item.ID)
	}
	said, grant, bad := readAnswer(&r, &p)
	if bad != nil {
		return wire.FeedReplyResult{}, bad
	}
	if bad := refuseUnsayable(s.Catalogue, &r, said); bad != nil {
		return wire.FeedReplyResult{}, bad
	}
	said.By, said.At = seatName(s.Processes, peer), time.Now()
	if said.Verdict != event.Deny {
		if err := s.CheckPIN(item.ID, p.PIN, peer); err != nil {
			return wire.FeedReplyResult{}, wire.Errorf(wire.CodePIN, "%v", err)
		}
	}
	result, bad := s.deliver(item.ID, said, grant)
	if bad == nil && result.Outcome == string(queue.Delivered) {
		result.Degraded = lossSentences(s.Catalogue, &r, said)
	}
	return result, bad
}

// addWindow says of a request that came to no answer here where the agent asks
// now, if it still does.
func addWindow(result wire.FeedReplyResult, waiting []wire.FeedItem) wire.FeedReplyResult {
	for _, item := range waiting {
		if item.ID == result.ID && item.Status == wire.FeedWindow {
			result.Why += "; " + item.Shown
		}
	}
	return result
}

// seatName names the person's seat, as far as the process at the other end tells.
func seatName(processes proc.Table, peer proc.Cred) string {
	p, err := processes.Lookup(peer.PID)
	if err != nil {
		return fmt.Sprintf("pid %d", peer.PID)
	}
	who := fmt.Sprintf("%s, pid %d", p.Name, peer.PID)
	if p.TTY != "" {
		who += ", " + p.TTY
	}
	return who
}
