package state

import (
	"bytes"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Rules hold what the catalogue and the user's settings say about one agent.
type Rules struct {
	Spec *agent.StatusSpec // nil: only the event's kind tells
	// Off says that the user switched this agent's status off: sessions are
	// still listed and titles still followed.
	Off bool
}

// Change says what a news item made different.
type Change struct {
	Key     Key
	Session *Session // as it is now; nil when it is gone or nothing was changed

	Created  bool
	From, To Status // equal when the status stayed
	Title    bool   // the shown title changed
	Tool     bool   // what it does now changed
	Waiting  bool   // it began to wait for a person
	Answered bool   // it waits no more

	TurnStarted bool
	TurnEnded   bool
	Turn        *Turn // the turn that ended

	Ended    bool // the session ended
	Revived  bool // it had ended and lives again
	Gone     bool // it was forgotten
	Subagent bool // only a subagent reported; nobody should be told that the session did

	Stale StaleReason // why the event did not touch the status
}

// Any reports whether there is anything to store or show.
func (c *Change) Any() bool { return c.Session != nil || c.Gone }

// Status reports whether the status changed.
func (c *Change) Status() bool { return c.From != c.To }

// input is one event on its way through the machine.
type input struct {
	ev    *event.Event
	at    time.Time
	seq   uint64
	rules Rules
	actor string // the subagent that reports; empty for the session itself
	child bool   // it reports under a session id of its own
}

// statusSignal returns what the event says about the status.
func (n *input) statusSignal() agent.Signal {
	if n.rules.Spec != nil {
		if is := n.rules.Spec.SignalOf(n.ev); is != "" {
			return is
		}
	}
	return defaultSignal(n.ev)
}

// defaultSignal returns what an event of this kind says when nothing is known about the
// agent.
func defaultSignal(ev *event.Event) agent.Signal {
	switch ev.Kind {
	case event.SessionStart:
		return agent.SignalStarts
	case event.SessionEnd:
		return agent.SignalLeaves
	case event.TurnStart:
		return agent.SignalPrompts
	case event.TurnEnd:
		return agent.SignalEnds
	case event.ToolBefore, event.ToolAfter:
		return agent.SignalWorks
	case event.PermissionRequest, event.UserQuestion, event.UserPlan:
		return agent.SignalAsks
	case event.PermissionResolved:
		return agent.SignalAnswered
	case event.UserAttention:
		if ev.Detail == "" {
			return agent.SignalAttention
		}
	case event.CompactBefore, event.CompactAfter, event.ModelBefore, event.ModelAfter:
		return agent.SignalActive
	}
	return agent.SignalNothing
}

// turnID returns the event's turn, if the agent's ids identify turns.
func (n *input) turnID() string {
	if n.rules.Spec != nil && n.rules.Spec.NoTurnIDs {
		return ""
	}
	return n.ev.Turn
}

// isAsync reports whether the agent does not wait for this event, so that it
// may come late.
func (n *input) isAsync() bool {
	if n.rules.Spec == nil {
		return false
	}
	for _, name := range n.rules.Spec.Async {
		if name == n.ev.Native {
			return true
		}
	}
	return false
}

// backgroundTasks counts the tasks that keep the agent going after its last message.
func (n *input) backgroundTasks() int {
	if n.rules.Spec == nil || n.ev.Background == 0 {
		return 0
	}
	count := 0
	raw := bytes.TrimPrefix(n.ev.Raw, []byte("\xef\xbb\xbf"))
	for _, name := range n.rules.Spec.KeepsRunning {
		_ = jsontext.Array(jsontext.Get(raw, name), func([]byte) bool { count++; return true })
	}
	return count
}

// isSteering reports whether a prompt sent during a turn is part of it.
func (n *input) isSteering() bool { return n.rules.Spec != nil && n.rules.Spec.Steers }

func (n *input) subagentName() (id, kind string) {
	id = n.actor
	if sub := n.ev.Subagent; sub != nil {
		id, kind = sub.ID, sub.Type
	}
	return Fold(id, 200), Fold(kind, 80)
}
