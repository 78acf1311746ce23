package approvals

import (
	"testing"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// Whoever begins to watch is told of the end of everything they were given, also of what
// the sessions never told of because it was over at once.
func TestListedWindowsEnd(t *testing.T) {
	table := queue.NewTable()
	w := newPromptList(table)
	item := wire.InboxRequest{ID: "w1", Status: wire.InboxPrompt, Agent: "claude", Session: "s"}
	queued := wire.InboxRequest{ID: "r1", Status: wire.InboxPending, Agent: "claude", Session: "s"}
	_, next := table.Watch()
	for range 2 {
		got := w.listItems(func() []wire.InboxRequest { return []wire.InboxRequest{queued, item} })
		if len(got) != 1 || got[0].ID != "w1" {
			t.Fatalf("listed %+v, want w1 alone", got)
		}
	}
	w.setItems(promptKey{"claude", "other"}, nil)
	w.setItems(promptKey{"claude", "s"}, nil)
	w.setItems(promptKey{"claude", "s"}, nil)
	changes, _, _, ok := table.Next(next)
	if !ok || len(changes) != 1 || changes[0].Note != wire.NoteInboxPromptOver || changes[0].Item.ID != "w1" {
		t.Errorf("noted %+v, %t; want one %s of w1", changes, ok, wire.NoteInboxPromptOver)
	}
}
