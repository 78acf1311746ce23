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
}

func (w *windowList) setItems(key windowKey, items []wire.InboxRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.open[key]
	if len(before) == 0 && len(items) == 0 {
		return
	}
	for _, old := range before {
		if !containsItem(items, old.ID) {
			w.queue.NoteWindow(wire.NoteInboxWindowOver, old)
		}
	}
	for _, item := range items {
		if !containsItem(before, item.ID) {
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
