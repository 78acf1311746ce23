package session

import (
	"hash/fnv"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// siblingWindow is how soon after a question another call of the same actor
// is a sibling of the one that is asked about, not a sign of an answer: calls
// of one message are reported together, and people are slower.
const siblingWindow = 2 * time.Second

// works: something goes on in the turn.
func (s *Session) works(n *news, c *Change) {
	switch n.ev.Kind {
	case event.ToolAfter:
		s.toolDone(n)
		if s.Turn.Open() && n.cutOff() && (n.turnID() == "" || n.turnID() == s.Turn.ID) {
			quiet := *n
			quiet.ev = &event.Event{Turn: n.ev.Turn, Where: n.ev.Where}
			s.finish(&quiet, c, Interrupted)
		}
		return
	case event.ToolBefore:
		if n.ev.Tool != nil && s.overtaken(n) {
			return // counted when its end came
		}
	}
	if !s.onIt(n, c) {
		return
	}
	if n.ev.Kind == event.ToolBefore && n.ev.Tool != nil {
		s.toolBegan(n)
		if n.ev.Tool.Kind == event.Question && s.Attended != event.AttendedNo {
			s.ask(n)
		}
		return
	}
	s.Asks = nil
}

// cutOff reports whether a call ended because the person stopped the turn.
func (n *news) cutOff() bool { return string(jsonscan.Get(n.ev.Raw, "is_interrupt")) == "true" }

// busy reports whether a call of the session's own goes on.
func (s *Session) busy() bool {
	for i := range s.Beneath.Calls {
		if s.Beneath.Calls[i].Actor == "" {
			return true
		}
	}
	return false
}

// onIt makes sure a turn is open; false when the event is too late for that.
func (s *Session) onIt(n *news, c *Change) bool {
	if !s.Live() {
		s.revive()
	}
	s.Beneath.Spoke = false
	if s.Turn.Open() {
		s.base(Running, n.at)
		return true
	}
	if t := s.Turn; t != nil {
		if n.async() && n.at.Sub(t.Ended) < asyncGrace {
			return false
		}
		id := n.turnID()
		if id != "" && id == t.ID || id == "" && t.Result == APIError {
			s.reopen(n.at) // a hook kept it going, or the model answered after all
			return true
		}
	}
	s.open(n, true)
	c.TurnStarted = true
	return true
}

// breathes: a sign of life within a turn.
func (s *Session) breathes(n *news) {
	if !s.Turn.Open() {
		return
	}
	switch n.ev.Kind {
	case event.TurnEnd:
		s.Beneath.Spoke = !s.busy() // a call without a result was cut off
		if summary := Summary(n.ev.Message); summary != "" {
			s.Turn.Summary = summary
		}
	case event.CompactBefore:
		s.Beneath.Said = "Compacting"
		if n.rules.Spec != nil && n.rules.Spec.SignalOf(n.ev) != "" {
			s.Beneath.Said = "" // this agent says so before every model call
		}
	case event.CompactAfter:
		s.Beneath.Said = ""
	case event.ModelBefore, event.ModelAfter:
		// The model is asked only when every call it made has its result.
		s.Beneath.Said = ""
		s.Asks = without(s.Asks, func(a *Ask) bool { return a.Actor == "" })
	}
	if s.Beneath.Base == Unsure {
		s.base(Running, n.at)
	}
}

// toolBegan notes a call that begins.
func (s *Session) toolBegan(n *news) {
	tool := n.ev.Tool
	call := Call{ID: tool.CallID, Tool: tool.Name, Digest: digest(tool), Label: Label(tool, s.Cwd), Actor: n.actor, At: n.at}
	again := s.known(&call)
	if !again {
		s.count(n)
	}
	s.Beneath.Said = ""
	if n.actor == "" {
		s.Beneath.Fault = "" // the model answered after all
	}
	s.Asks = without(s.Asks, func(a *Ask) bool {
		if a.Actor != n.actor {
			return false
		}
		call.Leave = call.Leave || again && a.about(&call)
		return a.about(&call) || n.at.Sub(a.At) >= siblingWindow
	})
	// Not every agent reports the end of a call that failed or was refused.
	// The model calls on when it has all results, so what is older than a
	// sibling is over.
	s.Beneath.Calls = added(without(s.Beneath.Calls, func(old *Call) bool {
		switch {
		case old.Actor != call.Actor:
			return false
		case n.at.Sub(old.At) >= siblingWindow && (old.ID == "" || old.ID != call.ID):
			s.finished(old.ID, false)
			return true
		}
		return old.ID != "" && old.ID == call.ID
	}), call, maxCalls)
}

func (s *Session) count(n *news) {
	if n.actor != "" {
		s.withHelper(n, func(sub *Subagent) { sub.Tools++ })
		return
	}
	if s.Turn != nil {
		s.Turn.Tools++
	}
}

// overtaken reports whether the end of the call was heard of before its
// beginning; the note about it is used up.
func (s *Session) overtaken(n *news) bool {
	id := n.ev.Tool.CallID
	for i := range s.Beneath.Done {
		if d := s.Beneath.Done[i]; d.Early && d.ID == id {
			s.Beneath.Done = changedAt(s.Beneath.Done, i, Done{ID: id})
			return true
		}
	}
	return false
}

// finished remembers that a call is over.
func (s *Session) finished(id string, early bool) {
	if id != "" {
		s.Beneath.Done = added(without(s.Beneath.Done, func(d *Done) bool { return d.ID == id }), Done{id, early}, maxDone)
	}
}

// known reports whether this very call goes on already: some agents tell of
// it again once a person said yes.
func (s *Session) known(call *Call) bool {
	for i := range s.Beneath.Calls {
		if c := &s.Beneath.Calls[i]; call.ID != "" && c.ID == call.ID && c.Tool == call.Tool && c.Digest == call.Digest {
			return true
		}
	}
	return false
}

func (s *Session) going(id string) bool {
	for i := range s.Beneath.Calls {
		if s.Beneath.Calls[i].ID == id {
			return true
		}
	}
	return false
}

func (s *Session) done(id string) bool {
	for i := range s.Beneath.Done {
		if s.Beneath.Done[i].ID == id {
			return id != ""
		}
	}
	return false
}

// toolDone notes a call that ended. It never begins a turn: it may be the
// late word of one that is over.
func (s *Session) toolDone(n *news) {
	tool := n.ev.Tool
	if tool == nil {
		return
	}
	call := Call{ID: tool.CallID, Tool: tool.Name, Digest: digest(tool), Actor: n.actor}
	known := s.takeCall(&call)
	twice := !known && s.done(call.ID) // two events tell of one call
	if !twice {
		s.finished(call.ID, !known)
	}
	if !known && !twice && call.ID != "" {
		s.count(n) // its beginning was not heard of
	}
	first := true
	s.Asks = without(s.Asks, func(a *Ask) bool {
		if a.Actor != n.actor || !first {
			return false
		}
		// Of a question that names no call, any result of its actor is the
		// answer.
		if a.about(&call) || a.Call == "" && a.Digest == 0 && a.Tool == "" {
			first = false
			return true
		}
		return false
	})
	if s.Turn == nil && n.actor == "" {
		// The beginning was missed, and so far nothing else is known.
		s.open(n, true)
	} else if s.Turn.Open() && s.Beneath.Base != Running {
		s.base(Running, n.at)
	}
	s.outcome(n, &call, twice)
}

// takeCall takes a call that ended off the list; false when it was not on it.
// Without ids, and with an input that a hook changed, the tool's name must do.
func (s *Session) takeCall(call *Call) bool {
	found := -1
	for i := range s.Beneath.Calls {
		old := &s.Beneath.Calls[i]
		if old.same(call) {
			found = i
			break
		}
		if old.ID == "" && call.ID == "" && old.Actor == call.Actor && old.Tool == call.Tool {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	i := -1
	s.Beneath.Calls = without(s.Beneath.Calls, func(*Call) bool { i++; return i == found })
	return true
}

// outcome keeps what a call left behind: files and failures.
func (s *Session) outcome(n *news, call *Call, twice bool) {
	failed, text, exit := Failing(n.ev)
	if !failed {
		for _, path := range n.ev.Tool.Writes {
			s.touched(path)
		}
		return
	}
	f := Failure{At: n.at, Turn: s.TurnCount, Tool: Label(n.ev.Tool, s.Cwd), Text: text, Exit: exit, Call: call.ID}
	if (twice || call.ID == "") && s.reported(f) {
		return
	}
	if n.actor != "" {
		s.withHelper(n, func(sub *Subagent) { sub.Errors++ })
	} else if t := s.Turn; t != nil {
		t.Errors++
		if !t.Open() && t.Result == OK {
			// The late word of a call changes how its turn went.
			t.Result, t.ExitCode = ToolErrors, 1
			if s.Beneath.Base == Success {
				s.base(Failed, t.Ended)
			}
		}
	}
	s.failed(f)
}

// reported reports whether a failure of this turn is known: by its call, or,
// where one of the two who tell of it knows no ids, by what was called.
func (s *Session) reported(f Failure) bool {
	for i := range s.Errors {
		old := &s.Errors[i]
		if old.Turn != f.Turn {
			continue
		}
		if f.Call != "" && old.Call == f.Call || f.Tool != "" && old.Tool == f.Tool && (f.Call == "") != (old.Call == "") {
			return true
		}
	}
	return false
}

func (s *Session) failed(f Failure) { s.Errors = added(s.Errors, f, MaxErrors) }

// touched notes a written file, the latest last.
func (s *Session) touched(path string) {
	path = relative(fold(path, 400), s.Cwd)
	if path == "" {
		return
	}
	s.Files = added(without(s.Files, func(old *string) bool { return *old == path }), path, MaxFiles)
}

// afterTheEnd keeps what a late event still tells: files, and nothing about
// the status.
func (s *Session) afterTheEnd(n *news) {
	if n.ev.Kind == event.ToolAfter && n.ev.Tool != nil {
		if failed, _, _ := Failing(n.ev); !failed {
			for _, path := range n.ev.Tool.Writes {
				s.touched(path)
			}
		}
	}
}

// doing is what is shown as going on now.
func (s *Session) doing() string {
	if !s.Turn.Open() {
		return ""
	}
	if s.Terminal != "" {
		return s.Beneath.Said
	}
	calls := s.Beneath.Calls
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Actor == "" {
			return calls[i].Label
		}
	}
	if s.Beneath.Said == "" && s.Background > 0 {
		return plural(s.Background, "background task")
	}
	return s.Beneath.Said
}

// same reports whether two reports are about one call.
func (c *Call) same(other *Call) bool {
	if c.Actor != other.Actor {
		return false
	}
	if c.ID != "" && other.ID != "" {
		return c.ID == other.ID
	}
	return c.Tool == other.Tool && c.Digest == other.Digest
}

// digest tells calls apart that have no id, by their input. It is stored, so
// it is the same in every run.
func digest(tool *event.Tool) uint64 {
	if len(tool.Input) == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(tool.Input[:min(len(tool.Input), 64<<10)])
	return h.Sum64()>>11 | 1 // fits a JSON number exactly
}
