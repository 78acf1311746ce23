package sessions

import (
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// maxRefused is how many refused calls are remembered.
const maxRefused = 512

// liftWatch notices calls that hookmux refused and that ran all the same, in agents that
// load code which can lift a refusal.
type liftWatch struct {
	deps services.Deps

	mu      sync.Mutex
	refused map[refusedCall]string // by what
	order   []refusedCall
}

type refusedCall struct{ agent, session, call string }

// decided remembers a call that was refused.
func (w *liftWatch) decided(ev *event.Event, d *event.Decision) {
	if d.Verdict != event.Deny || ev.Kind != event.ToolBefore || ev.Tool == nil || ev.Tool.CallID == "" {
		return
	}
	if a, ok := w.deps.Catalogue.Agent(ev.Agent); !ok || a.Mods == nil {
		return
	}
	one := refusedCall{ev.Agent, ev.Session, ev.Tool.CallID}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused == nil {
		w.refused = map[refusedCall]string{}
	}
	if _, known := w.refused[one]; !known {
		w.order = append(w.order, one)
	}
	w.refused[one] = d.By
	if len(w.order) > maxRefused {
		delete(w.refused, w.order[0])
		w.order = w.order[1:]
	}
}

// happened raises a problem when a refused call ended well.
func (w *liftWatch) happened(ev *event.Event) {
	if ev.Kind != event.ToolAfter || ev.Tool == nil {
		return
	}
	w.mu.Lock()
	by, refused := w.refused[refusedCall{ev.Agent, ev.Session, ev.Tool.CallID}]
	w.mu.Unlock()
	if !refused {
		return
	}
	if failed, _, _ := state.Failing(ev); failed {
		return
	}
	title := w.deps.AgentTitle(ev.Agent)
	if by != "" {
		by = " (" + by + ")"
	}
	w.deps.Problems.Raise("lifted:"+ev.Agent, title+" (session "+wire.ShortID(ev.Session)+") ran a call that hookmux refused"+
		by+": a mod or another program in "+title+" lifts refusals, so guards don't apply there",
		"hookmux doctor "+ev.Agent)
}
