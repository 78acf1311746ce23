package session

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
	"github.com/hookmux/hookmux/internal/wire"
)

// mux0Event begins the native name of an event that came as a mux0 line.
const mux0Event = "mux0."

// Apply takes one event of an agent in. It is cheap and its cost does not
// depend on how many sessions there are.
func (b *Book) Apply(ev *event.Event, rules Rules) Change { return b.ApplyNumbered(ev, 0, rules) }

// ApplyNumbered is Apply for a sender that numbers its calls: a number below
// that of a turn's start cannot touch that turn.
func (b *Book) ApplyNumbered(ev *event.Event, seq uint64, rules Rules) Change {
	if strings.HasPrefix(ev.Native, mux0Event) {
		m, err := wire.ParseMux0(ev.Raw)
		if err != nil {
			return Change{Stale: err.Error()}
		}
		return b.Mux0(&m, ev.Time, ev.Where, rules)
	}
	n := input{ev: ev, at: ev.Time, seq: seq, rules: rules}
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.findSession(&n)
	if !ok {
		return Change{Key: key, Stale: n.stale}
	}
	old := b.store.getSession(key)
	c := Change{Key: key, Subagent: n.actor != ""}
	var next *Session
	if old != nil {
		next = old.copySession()
	} else {
		next = &Session{
			Key: key, Status: NeverRan, Since: n.at, StartedAt: n.at,
			Machine: MachineState{Base: NeverRan, BaseSince: n.at},
		}
	}
	next.recordFacts(&n)
	if !rules.Off {
		next.applySignal(&n, &c)
	}
	b.commitChange(old, next, &c)
	return c
}

// input is one event on its way through the machine.
type input struct {
	ev    *event.Event
	at    time.Time
	seq   uint64
	rules Rules
	actor string // the subagent that reports; empty for the session itself
	child bool   // it reports under a session id of its own
	stale string
}

// statusSignal is what the event says about the status.
func (n *input) statusSignal() agent.Signal {
	if n.rules.Spec != nil {
		if is := n.rules.Spec.SignalOf(n.ev); is != "" {
			return is
		}
	}
	return defaultSignal(n.ev)
}

// defaultSignal is what an event of this kind says when nothing is known about the
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
			return agent.SignalNudges
		}
	case event.CompactBefore, event.CompactAfter, event.ModelBefore, event.ModelAfter:
		return agent.SignalBreathes
	}
	return agent.SignalNothing
}

// findSession finds the session an event counts for: a subagent's counts for the
// session it works for.
func (b *Book) findSession(n *input) (Key, bool) {
	ev := n.ev
	key := Key{ev.Agent, ev.Session}
	if key.ID == "" {
		if ev.Where.PID == 0 {
			n.stale = "the event names no session"
			return key, false
		}
		// Not an id an agent would give, so that it is never resumed.
		key.ID = "pid:" + strconv.Itoa(ev.Where.PID) + "." + strconv.FormatUint(ev.Where.Start, 10)
	}
	if parent, ok := b.children[key]; ok && b.store.hasSession(parent) {
		n.actor, n.child = key.ID, true
		return parent, true
	}
	sub := ev.Subagent
	if sub == nil {
		return key, true
	}
	n.actor = sub.ID
	if n.actor == "" {
		n.actor = sub.Type
	}
	if n.actor == "" {
		n.actor = "?"
	}
	if sub.Parent != "" && sub.Parent != ev.Session {
		parent := Key{ev.Agent, sub.Parent}
		if above, ok := b.children[parent]; ok { // a helper's helper
			parent = above
		}
		n.child = true
		return parent, b.store.hasSession(parent) || n.unknownParent()
	}
	if sub.ID == ev.Session && n.rules.Spec != nil && n.rules.Spec.ChildSessions {
		n.child = true
		return key, n.unknownParent()
	}
	return key, true
}

func (n *input) unknownParent() bool {
	n.stale = "a subagent of a session nobody has heard of"
	return false
}

// recordFacts keeps what an event says about the session, whatever it says about the
// status.
func (s *Session) recordFacts(n *input) {
	ev := n.ev
	if n.at.After(s.LastEvent) {
		s.LastEvent = n.at
	}
	if n.seq > s.Machine.Seq {
		s.Machine.Seq = n.seq
	}
	if n.actor == "" || !n.child {
		if n.actor == "" {
			setIfGiven(&s.Cwd, ev.Cwd)
		}
		if ev.Where.PID != 0 || ev.Where.Pane != "" || ev.Where.TTY != "" || ev.Where.Shared {
			s.Place = ev.Where
		}
	}
	if n.actor != "" {
		return
	}
	setIfGiven(&s.Mode, ev.Mode)
	setIfGiven(&s.Model, ev.Model)
	setIfGiven(&s.Version, ev.AgentVersion)
	setIfGiven(&s.Transcript, ev.Transcript)
	if ev.Attended != event.AttendedUnknown {
		s.Attended = ev.Attended
	}
	s.recordTitles(n)
}

func setIfGiven(into *string, said string) {
	if said != "" && *into != said { // the old one holds on to less memory
		*into = said
	}
}

// applySignal follows what the event says about the status.
func (s *Session) applySignal(n *input, c *Change) {
	signal := n.statusSignal()
	if signal == agent.SignalNests {
		s.Machine.NestedTurns++
		return
	}
	switch n.ev.Kind {
	case event.SubagentStart, event.SubagentEnd:
		s.trackSubagent(n)
		return
	}
	if n.actor != "" {
		s.subagentReported(n, signal, c)
		return
	}
	if why := s.staleReason(n, signal); why != "" {
		c.Stale = why
		s.recordLateFiles(n)
		return
	}
	switch signal {
	case agent.SignalStarts:
		s.sessionStarted(n, c)
	case agent.SignalLeaves:
		s.sessionEnded(n, c)
	case agent.SignalPrompts:
		s.promptSubmitted(n, c)
	case agent.SignalWorks:
		s.workReported(n, c)
	case agent.SignalBreathes:
		s.activityReported(n)
	case agent.SignalRecovers:
		if t := s.Turn; t != nil && !t.Open() && t.Result == APIError && (n.turnID() == "" || n.turnID() == t.ID) {
			s.reopenTurn(n.at)
		}
		s.activityReported(n)
	case agent.SignalSays:
		if s.Turn.Open() {
			s.Machine.Activity = foldLine(n.ev.Message, maxLabel)
		}
	case agent.SignalAsks:
		s.addAsk(n)
	case agent.SignalNudges:
		if s.Machine.Base == Running && len(s.Asks) == 0 {
			s.addAsk(n)
		}
	case agent.SignalAnswered:
		s.resolveAsk(n)
	case agent.SignalFaults:
		if s.Machine.ModelError = foldLine(n.ev.Error, maxSummary); s.Machine.ModelError == "" {
			s.Machine.ModelError = "the model could not be asked"
		}
	case agent.SignalEnds:
		s.turnEnded(n, c)
	case agent.SignalFails:
		s.Machine.NestedTurns = 0
		s.finishTurn(n, c, APIError)
	case agent.SignalInterrupts:
		if n.ev.Kind == event.UserAttention {
			s.agentIdle(n, c)
			return
		}
		s.Machine.NestedTurns = 0
		s.finishTurn(n, c, Interrupted)
	case agent.SignalSettles:
		s.agentSettled(n, c)
	}
}

// staleReason says why an event must not touch the status: it belongs to a turn that
// is over, or to a time before what is known.
func (s *Session) staleReason(n *input, signal agent.Signal) string {
	if !s.Live() {
		switch {
		case n.at.Before(s.Ended):
			return "older than the session's end"
		case signal == agent.SignalStarts || signal == agent.SignalPrompts || signal == agent.SignalAsks:
		case n.ev.Kind == event.ToolBefore && n.at.After(s.Ended):
		default:
			return "the session has ended"
		}
		return ""
	}
	t := s.Turn
	if t == nil {
		return ""
	}
	if id := n.turnID(); id != "" && id != t.ID && s.turnClosed(id) {
		return "of a turn that is over"
	}
	if n.seq != 0 && n.seq < t.Seq && n.ev.Where.PID != 0 && !s.fromOtherProcess(n) {
		return "sent before the turn began"
	}
	if n.at.Before(t.Started) && !(t.Implicit && signal == agent.SignalPrompts) && signal != agent.SignalStarts {
		return "older than the turn"
	}
	return ""
}

// turnID is the event's turn, where the agent's ids tell turns apart.
func (n *input) turnID() string {
	if n.rules.Spec != nil && n.rules.Spec.NoTurnIDs {
		return ""
	}
	return n.ev.Turn
}

func (s *Session) turnClosed(id string) bool {
	for _, tomb := range s.Machine.ClosedTurns {
		if tomb == id {
			return true
		}
	}
	return false
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

// backgroundTasks counts the tasks that keep the agent going after its last word.
func (n *input) backgroundTasks() int {
	if n.rules.Spec == nil || n.ev.Background == 0 {
		return 0
	}
	count := 0
	raw := bytes.TrimPrefix(n.ev.Raw, []byte("\xef\xbb\xbf"))
	for _, name := range n.rules.Spec.KeepsRunning {
		_ = jsonscan.Array(jsonscan.Get(raw, name), func([]byte) bool { count++; return true })
	}
	return count
}
