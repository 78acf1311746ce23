package approvals

import (
	"fmt"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

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

// tooLate is what a reply hears when the request had ended.
func tooLate(item wire.FeedItem) wire.FeedReplyResult {
	result := wire.FeedReplyResult{ID: item.ID, Outcome: string(queue.Gone), Why: item.End, Item: &item,
		Decided: item.Decision}
	if item.Status == string(queue.Resolved) {
		result.Outcome = string(queue.Already)
	}
	if item.Decision != nil {
		result.By = item.Decision.By
	}
	return result
}
