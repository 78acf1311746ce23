package state

import (
	"github.com/hookmux/hookmux/event"
)

// askFor returns the question that an event of a session in a folder puts.
func (m *MachineState) askFor(n *input, cwd string) Ask {
	ask := Ask{Event: n.ev.ID, At: n.at, Actor: n.actor, What: Fold(n.ev.Message, maxSummary)}
	if tool := n.ev.Tool; tool != nil {
		ask.Call, ask.Tool, ask.Digest = tool.CallID, tool.Name, inputDigest(tool)
		ask.Kind, ask.Command, ask.Whole = tool.Kind, commandOf(tool), wholeCommand(tool)
		if label := Label(tool, cwd); label != "" {
			ask.What = label
		}
	} else if call := m.onlyCall(n.actor); call != nil && n.ev.Kind == event.UserAttention {
		// The agent calls for its person and does not say about what: it is
		// about the one call that has not run.
		ask.Command, ask.Whole = call.Command, call.Whole
		if call.Label != "" {
			ask.What = call.Label
		}
	}
	if ask.Kind == "" && len(n.ev.Questions) > 0 {
		ask.Kind = event.Question
	}
	if len(n.ev.Questions) > 0 && n.ev.Questions[0].Text != "" && (n.ev.Tool != nil || ask.What == "") {
		ask.What = Fold(n.ev.Questions[0].Text, maxSummary)
	}
	return ask
}

// addAsk records that you must decide something now.
func (s *Session) addAsk(n *input) {
	if !s.Live() {
		s.reviveSession()
	}
	ask := s.Machine.askFor(n, s.Cwd)
	s.Machine.linkToCall(&ask)
	if s.Machine.callFinished(ask.Call) && !s.Machine.callOpen(ask.Call) {
		return // its result overtook the question
	}
	for i := range s.Machine.Calls {
		if c := &s.Machine.Calls[i]; c.Approved && c.ID == ask.Call && c.Digest == ask.Digest {
			return // asked again after the yes
		}
	}
	for i := range s.Asks {
		old := &s.Asks[i]
		same := old.Call != "" && old.Call == ask.Call ||
			old.Digest != 0 && old.Digest == ask.Digest && old.Tool == ask.Tool
		if old.Actor == ask.Actor && (ask.namesNoCall() || same) {
			return // said again: it has waited since the first time
		}
	}
	// What was asked without saying about what is now said.
	for i := range s.Asks {
		if old := &s.Asks[i]; old.Actor == ask.Actor && old.namesNoCall() {
			ask.At, ask.N, ask.Request = old.At, old.N, old.Request
			s.Asks = replaceAt(s.Asks, i, ask)
			return
		}
	}
	s.Machine.AskCount++
	ask.N = s.Machine.AskCount
	s.Asks = appendBounded(s.Asks, ask, maxAsks)
	if s.Machine.Base == NeverRan || s.Machine.Base == Unsure {
		// You're being asked, so the turn continues.
		if s.Turn.Open() {
			s.Machine.setBase(Running, n.at)
		} else {
			s.Machine.setBase(Idle, n.at)
		}
	}
}

// refuseAsk removes the question that you answered with no: the call it was about is denied,
// whatever the agent reports of its end.
func refuseAsk(s *Session, n *input) {
	place := s.askAnswered(n)
	if place >= 0 && s.Turn != nil {
		s.Machine.noteRefusal(s.Turn, &s.Asks[place], n)
	}
	s.dropAsk(place, n)
}

// noteRefusals records a no to all that is asked: the turn was stopped at it.
func (m *MachineState) noteRefusals(turn *Turn, asks []Ask, n *input) {
	if !turn.Open() {
		return
	}
	for i := range asks {
		m.noteRefusal(turn, &asks[i], n)
	}
}

// noteRefusal records that you said no. A question without an answer isn't a denied call.
func (m *MachineState) noteRefusal(turn *Turn, a *Ask, n *input) {
	if a.Kind == event.Question {
		m.WavedAway = true
		return
	}
	m.denyCall(turn, Call{ID: a.Call, Tool: a.Tool, Digest: a.Digest, Actor: a.Actor, At: n.at})
}

// dropAsk removes the question at a place; -1 removes nothing.
func (s *Session) dropAsk(drop int, n *input) {
	if drop < 0 {
		return
	}
	i := -1
	s.Asks = removeWhere(s.Asks, func(*Ask) bool { i++; return i == drop })
	if s.Turn.Open() {
		s.Machine.setBase(Running, n.at)
	}
}
