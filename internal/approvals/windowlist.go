package approvals

import (
	"slices"
	"sync"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// windowKey names a session.
type windowKey struct{ agent, session string }

// windowList is what stands in agents' own windows, as those who watch were told.
type windowList struct {
	queue *queue.Table

	mu   sync.Mutex
	open map[windowKey][]wire.InboxRequest
	// listed is what those who began to watch were given though it is not in open:
	// sessions tell only of their latest state, and not of what an earlier daemon saw.
	listed map[windowKey][]wire.InboxRequest
}

func newWindowList(table *queue.Table) *windowList {
	return &windowList{queue: table, open: map[windowKey][]wire.InboxRequest{}, listed: map[windowKey][]wire.InboxRequest{}}
}

// listItems gives what stands in windows now to somebody who begins to watch. waiting is
// asked under the lock: whatever ends later is noted later.
func (w *windowList) listItems(waiting func() []wire.InboxRequest) []wire.InboxRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []wire.InboxRequest
	for _, item := range waiting() {
		if item.Status != wire.InboxWindow {
			continue
		}
		list = append(list, item)
		key := windowKey{item.Agent, item.Session}
		if !containsItem(w.open[key], item.ID) && !containsItem(w.listed[key], item.ID) {
			w.listed[key] = append(w.listed[key], item)
		}
	}
	return list
}

func (w *windowList) setItems(key windowKey, items []wire.InboxRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, listed := w.open[key], w.listed[key]
	if len(before) == 0 && len(listed) == 0 && len(items) == 0 {
		return
	}
	delete(w.listed, key)
	for _, old := range slices.Concat(before, listed) {
		if !containsItem(items, old.ID) {
			w.queue.NoteWindow(wire.NoteInboxWindowOver, old)
		}
	}
	for _, item := range items {
		if !slices.ContainsFunc(before, func(old wire.InboxRequest) bool {
			return old.ID == item.ID && old.SHA256 == item.SHA256 // else it can be answered now, or no more
		}) {
			w.queue.NoteWindow(wire.NoteInboxWindow, item)
		}
	}
	if w.open[key] = items; len(items) == 0 {
		delete(w.open, key)
	}
}

func containsItem(list []wire.InboxRequest, id string) bool {
	return slices.ContainsFunc(list, func(item wire.InboxRequest) bool { return item.ID == id })
}
