package approvals

import (
	"slices"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

// UserNotes holds texts given with a yes that the agent can't receive with it: most take
// none at a permission request. They are sent with the result of the call.
type UserNotes struct {
	mu   sync.Mutex
	list []note
}

type note struct {
	keys   []policy.Key
	worker policy.Worker
	call   string // the agent's own number of the call, where it has one
	words  string
}

// keepNotes bounds how many wait for the end of their call.
const keepNotes = 256

// Store keeps a text for the end of a call.
func (n *UserNotes) Store(ev *event.Event, words string) {
	keys := policy.Keys(ev)
	if len(keys) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, note{keys, policy.WorkerOf(ev), ev.Tool.CallID, words})
	if len(n.list) > keepNotes {
		n.list = slices.Delete(n.list, 0, 1)
	}
}

// TakeOut returns the text for a call that ended, once.
func (n *UserNotes) TakeOut(ev *event.Event) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) == 0 || ev.Tool == nil {
		return ""
	}
	keys := policy.Keys(ev)
	at := slices.IndexFunc(n.list, func(one note) bool {
		return (one.call == "" || ev.Tool.CallID == "" || one.call == ev.Tool.CallID) &&
			slices.ContainsFunc(one.keys, func(k policy.Key) bool { return slices.Contains(keys, k) })
	})
	if at < 0 {
		return ""
	}
	words := n.list[at].words
	n.list = slices.Delete(n.list, at, at+1)
	return words
}

// Observe forgets what was said about a turn that is over: its call never ran.
func (n *UserNotes) Observe(ev *event.Event) {
	switch ev.Kind {
	case event.TurnStart, event.TurnEnd, event.SubagentEnd, event.SessionEnd:
	default:
		return
	}
	w := policy.WorkerOf(ev)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = slices.DeleteFunc(n.list, func(one note) bool {
		return one.worker == w || ev.Kind == event.SessionEnd && one.worker.Agent == w.Agent &&
			one.worker.Session == w.Session
	})
}
