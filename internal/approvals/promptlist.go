package approvals

import (
	"slices"
	"sync"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// promptKey names a session.
type promptKey struct{ agent, session string }

// promptList holds the requests at agents' own prompts, as they were announced.
type promptList struct {
	queue *queue.Table

	mu   sync.Mutex
	open map[promptKey][]wire.InboxRequest
	// listed holds what was sent to new watchers though it isn't in open: sessions
	// report only their latest state, and not what an earlier daemon saw.
	listed map[promptKey][]wire.InboxRequest
}

func newPromptList(table *queue.Table) *promptList {
	return &promptList{queue: table, open: map[promptKey][]wire.InboxRequest{}, listed: map[promptKey][]wire.InboxRequest{}}
}

// listItems returns what is at agents' prompts now, for a new watcher. waiting is called
// under the lock: whatever ends later is announced later.
func (w *promptList) listItems(waiting func() []wire.InboxRequest) []wire.InboxRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []wire.InboxRequest
	for _, item := range waiting() {
		if item.Status != wire.InboxPrompt {
			continue
		}
		list = append(list, item)
		key := promptKey{item.Agent, item.Session}
		if !containsItem(w.open[key], item.ID) && !containsItem(w.listed[key], item.ID) {
			w.listed[key] = append(w.listed[key], item)
		}
	}
	return list
}

func (w *promptList) setItems(key promptKey, items []wire.InboxRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, listed := w.open[key], w.listed[key]
	if len(before) == 0 && len(listed) == 0 && len(items) == 0 {
		return
	}
	delete(w.listed, key)
	for _, old := range slices.Concat(before, listed) {
		if !containsItem(items, old.ID) {
			w.queue.NotePrompt(wire.NoteInboxPromptOver, old)
		}
	}
	for _, item := range items {
		if !slices.ContainsFunc(before, func(old wire.InboxRequest) bool {
			return old.ID == item.ID && old.SHA256 == item.SHA256 // else it can be answered now, or no more
		}) {
			w.queue.NotePrompt(wire.NoteInboxPrompt, item)
		}
	}
	if w.open[key] = items; len(items) == 0 {
		delete(w.open, key)
	}
}

func containsItem(list []wire.InboxRequest, id string) bool {
	return slices.ContainsFunc(list, func(item wire.InboxRequest) bool { return item.ID == id })
}
