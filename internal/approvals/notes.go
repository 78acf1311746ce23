package hub

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

// notes are words beside a yes that the agent could not hear with it: most take
// none at a permission request. They are told with the result of the call.
type notes struct {
	mu   sync.Mutex
	list []beside
}

type beside struct {
	keys   []policy.Key
	worker policy.Worker
	call   string // the agent's own number of the call, where it has one
	words  string
}

// keepNotes bounds how many wait for the end of their call.
const keepNotes = 256

func (n *notes) keep(ev *event.Event, words string) {
	keys := policy.Keys(ev)
	if len(keys) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, beside{keys, policy.WorkerOf(ev), ev.Tool.CallID, words})
	if len(n.list) > keepNotes {
		n.list = slices.Delete(n.list, 0, 1)
	}
}

// take gives the words for a call that ended, once.
func (n *notes) take(ev *event.Event) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) == 0 || ev.Tool == nil {
		return ""
	}
	keys := policy.Keys(ev)
	at := slices.IndexFunc(n.list, func(one beside) bool {
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

// see forgets what was said about a turn that is over: its call never ran.
func (n *notes) see(ev *event.Event) {
	switch ev.Kind {
	case event.TurnStart, event.TurnEnd, event.SubagentEnd, event.SessionEnd:
	default:
		return
	}
	w := policy.WorkerOf(ev)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = slices.DeleteFunc(n.list, func(one beside) bool {
		return one.worker == w || ev.Kind == event.SessionEnd && one.worker.Agent == w.Agent && one.worker.Session == w.Session
	})
}

// hearsAfter reports whether words can be told to an agent with the result of a
// call.
func hearsAfter(a *agent.Agent) bool {
	return a != nil && slices.ContainsFunc(a.Events, func(e *agent.EventSpec) bool {
		return e.Kind == event.ToolAfter && e.Install == agent.InstallDefault && e.Carries.Context != nil
	})
}

// tellNote adds to the result of a call what a person said when they let it run.
func (h *Hub) tellNote(in *arrival, p *passage) {
	if in.dry != nil || !p.carries.Context {
		return
	}
	if words := h.desk.notes.take(&p.ev); words != "" {
		d := &p.outcome.Decision
		d.Context = strings.TrimSpace(d.Context + "\nThe person who approved this call adds: " + words)
	}
}
