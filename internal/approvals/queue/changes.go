package queue

import (
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// keepChanges bounds how far a stream may lag; beyond that it is disconnected and starts
// again with what waits.
const keepChanges = 4096

// pause is how long watchers wait for a change, so that a waiting call goes first and a
// flurry of changes is sent as one.
const pause = 2 * time.Millisecond

func newChanges() changes { return changes{wake: make(chan struct{})} }

// noteChange notes a change. The caller holds the table.
func (t *Table) noteChange(note string, e *entry) { t.noteItem(note, e.asItem()) }

// NotePrompt announces that a request appeared at an agent's own prompt, or is gone.
func (t *Table) NotePrompt(note string, item wire.InboxRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noteItem(note, item)
}

func (t *Table) noteItem(note string, item wire.InboxRequest) {
	l := &t.log
	l.kept = append(l.kept, &Change{Note: note, Item: item})
	if len(l.kept) > 2*keepChanges {
		gone := len(l.kept) - keepChanges
		l.kept = slices.Clone(l.kept[gone:])
		l.first += int64(gone)
	}
	if l.waking {
		return
	}
	l.waking = true
	time.AfterFunc(pause, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		l.waking = false
		close(l.wake)
		l.wake = make(chan struct{})
	})
}

// Watch gives what waits now and where to go on from.
func (t *Table) Watch() (items []wire.InboxRequest, next int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waitingItems(), t.log.first + int64(len(t.log.kept))
}

// Next gives the changes from a number on, the number behind them, and a
// channel that is closed soon after the next one. It is false when some were lost.
func (t *Table) Next(from int64) (list []*Change, next int64, wake <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.log
	end := l.first + int64(len(l.kept))
	if from < l.first || from > end {
		return nil, end, l.wake, false
	}
	return slices.Clone(l.kept[from-l.first:]), end, l.wake, true
}
