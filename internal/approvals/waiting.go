package approvals

import (
	"slices"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// sessionNotes tells the sessions of every request that begins or ceases to wait,
// so that what waits for a person is one list.
type sessionNotes struct{ sessions Sessions }

func (n sessionNotes) RequestOpened(id string, r *queue.Request) {
	n.sessions.RequestOpened(id, r.Event, r.Opened)
}

func (n sessionNotes) RequestEnded(id string, r *queue.Request, why queue.End) {
	n.sessions.RequestEnded(id, why.Settles() && !r.ByHook)
}

// joinWaiting is everything that waits for a person, from the sessions' list:
// what is held is given in full, as the queue knows it.
func joinWaiting(waiting, held []wire.FeedItem) []wire.FeedItem {
	list, known := []wire.FeedItem{}, map[string]bool{}
	for _, item := range waiting {
		if item.Status == wire.FeedWindow {
			list = append(list, item)
			continue
		}
		known[item.ID] = true
		i := slices.IndexFunc(held, func(h wire.FeedItem) bool { return h.ID == item.ID })
		if i >= 0 && item.Status == wire.FeedPending {
			list = append(list, held[i])
		}
	}
	for _, item := range held {
		if !known[item.ID] { // of a session that a person had forgotten
			list = append(list, item)
		}
	}
	return list
}

// WindowsChanged takes in what of a session stands in the agent's own window.
func (s *Service) WindowsChanged(agent, session string, items []wire.FeedItem) {
	s.windows.setItems(windowKey{agent, session}, items)
}
