package approvals

import (
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// Answers remembers what you answered about a call, so that you're asked about each call
// once: the answer at one event also serves the event of another kind that follows it for
// the same call, one time. A call that starts again, ends, or whose turn ends, is
// forgotten.
type Answers struct {
	mu    sync.Mutex
	known map[policy.Key]*answer
	list  bounded.Map[*answer, struct{}]
}

type answer struct {
	keys       []policy.Key
	worker     policy.Worker
	at         event.Kind
	decision   event.Decision
	tool       string
	extraInput string
}

// keepAnswers bounds how many answers are remembered.
const keepAnswers = 1024

// Store remembers the answer given at an event.
func (a *Answers) Store(ev *event.Event, d event.Decision) {
	keys := policy.Keys(ev)
	if len(keys) == 0 || !ev.Kind.Guarded() {
		return
	}
	one := &answer{keys: keys, worker: policy.WorkerOf(ev), at: ev.Kind, decision: d, tool: ev.Tool.Name,
		extraInput: policy.ExtraInput(ev.Tool)}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[policy.Key]*answer{}
	}
	for _, k := range keys {
		a.dropAnswer(a.known[k])
		a.known[k] = one
	}
	if oldest, _, full := a.list.Put(one, struct{}{}, keepAnswers); full {
		a.dropAnswer(oldest)
	}
}

// TakeOut gives the answer that serves this event, and forgets it.
func (a *Answers) TakeOut(ev *event.Event) (event.Decision, bool) { return a.lookUp(ev, true) }

// Peek returns what Take would give.
func (a *Answers) Peek(ev *event.Event) (event.Decision, bool) { return a.lookUp(ev, false) }

func (a *Answers) lookUp(ev *event.Event, use bool) (event.Decision, bool) {
	if !ev.Kind.Guarded() || ev.Tool == nil {
		return event.Decision{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) == 0 {
		return event.Decision{}, false
	}
	one := a.findAnswer(ev)
	if one == nil {
		return event.Decision{}, false
	}
	if use {
		a.dropAnswer(one)
	}
	if one.at == ev.Kind {
		return event.Decision{}, false // the same kind again is the next call
	}
	// The same command outside a sandbox, for example, isn't what was answered. If
	// an agent reports one call in two shapes, there is nothing to compare.
	if one.decision.Verdict != event.Deny && one.tool == ev.Tool.Name && one.extraInput != policy.ExtraInput(ev.Tool) {
		return event.Decision{}, false
	}
	return one.decision, true
}

// Observe forgets what an event shows to be over.
func (a *Answers) Observe(ev *event.Event) {
	switch ev.Kind {
	case event.ToolBefore, event.PermissionRequest, event.ToolAfter, event.PermissionResolved, event.TurnStart,
		event.TurnEnd, event.SessionStart, event.SessionEnd, event.SubagentEnd:
	default:
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) == 0 {
		return
	}
	switch ev.Kind {
	case event.ToolBefore, event.PermissionRequest:
		if one := a.findAnswer(ev); one != nil && one.at == ev.Kind {
			a.dropAnswer(one) // the same kind again is the next call
		}
		return
	case event.ToolAfter, event.PermissionResolved:
		a.dropAnswer(a.findAnswer(ev))
		return
	}
	w := policy.WorkerOf(ev)
	whole := ev.Kind != event.SubagentEnd && w.Sub == ""
	for one := range a.list.All() {
		if one.worker == w || whole && one.worker.Agent == w.Agent && one.worker.Session == w.Session {
			a.dropAnswer(one)
		}
	}
}

func (a *Answers) findAnswer(ev *event.Event) *answer {
	for _, k := range policy.Keys(ev) {
		if one := a.known[k]; one != nil {
			return one
		}
	}
	return nil
}

func (a *Answers) dropAnswer(one *answer) {
	if one == nil {
		return
	}
	a.list.Delete(one)
	for _, k := range one.keys {
		if a.known[k] == one {
			delete(a.known, k)
		}
	}
}
