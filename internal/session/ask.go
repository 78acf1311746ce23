package session

// ask: a person must decide something now.
func (s *Session) ask(n *news) {
	if !s.Live() {
		s.revive()
	}
	ask := Ask{At: n.at, Actor: n.actor, What: fold(n.ev.Message, maxSummary)}
	if tool := n.ev.Tool; tool != nil {
		ask.Call, ask.Tool, ask.Digest = tool.CallID, tool.Name, digest(tool)
		if label := Label(tool, s.Cwd); label != "" {
			ask.What = label
		}
	}
	s.link(&ask)
	if s.done(ask.Call) && !s.going(ask.Call) {
		return // its result overtook the question
	}
	for i := range s.Beneath.Calls {
		if c := &s.Beneath.Calls[i]; c.Leave && c.ID == ask.Call && c.Digest == ask.Digest {
			return // asked again after the yes
		}
	}
	for i := range s.Asks {
		if old := &s.Asks[i]; old.Actor == ask.Actor && (ask.vague() || old.Call != "" && old.Call == ask.Call || old.Digest != 0 && old.Digest == ask.Digest && old.Tool == ask.Tool) {
			return // said again: it has waited since the first time
		}
	}
	// What was asked without saying about what is now said.
	for i := range s.Asks {
		if old := &s.Asks[i]; old.Actor == ask.Actor && old.vague() {
			ask.At = old.At
			s.Asks = changedAt(s.Asks, i, ask)
			return
		}
	}
	s.Asks = added(s.Asks, ask, maxAsks)
	if s.Beneath.Base == NeverRan || s.Beneath.Base == Unsure {
		// Somebody is asked, so something goes on.
		if s.Turn.Open() {
			s.base(Running, n.at)
		} else {
			s.base(Idle, n.at)
		}
	}
}

// link finds the call a question is about where it does not name it: agents
// leave the id out, change the input in between, or use another tool name.
func (s *Session) link(ask *Ask) {
	if ask.Call != "" {
		return
	}
	calls := s.Beneath.Calls
	best, rank, open := -1, 0, 0
	for i := range calls {
		c := &calls[i]
		if c.Actor != ask.Actor {
			continue
		}
		open++
		r := 1
		if c.Tool == ask.Tool {
			if r = 2; c.Digest == ask.Digest {
				r = 3
			}
		}
		if r >= rank {
			best, rank = i, r
		}
	}
	if best < 0 || ask.Tool == "" && open > 1 {
		return
	}
	c := &calls[best]
	ask.Call, ask.Tool, ask.Digest = c.ID, c.Tool, c.Digest
	if ask.What == "" {
		ask.What = c.Label
	}
}

// vague reports whether nothing tells which call is asked about.
func (a *Ask) vague() bool { return a.Call == "" && a.Tool == "" }

// about reports whether the question is about this call.
func (a *Ask) about(c *Call) bool {
	if a.Call != "" && c.ID != "" {
		return a.Call == c.ID
	}
	if a.Tool == "" {
		return false
	}
	if a.Tool == c.Tool && (a.Digest == c.Digest || a.Digest == 0 || c.Digest == 0) {
		return true
	}
	return false
}

// answered: somebody answered, or the question was taken back.
func (s *Session) answered(n *news) {
	if len(s.Asks) == 0 {
		return
	}
	drop := -1
	if tool := n.ev.Tool; tool != nil {
		call := Call{ID: tool.CallID, Tool: tool.Name, Digest: digest(tool)}
		for i := range s.Asks {
			if s.Asks[i].about(&call) {
				drop = i
				break
			}
		}
	}
	if drop < 0 {
		for i := range s.Asks {
			if s.Asks[i].Actor == n.actor {
				drop = i
				break
			}
		}
	}
	if drop < 0 {
		return
	}
	i := -1
	s.Asks = without(s.Asks, func(*Ask) bool { i++; return i == drop })
	if s.Turn.Open() {
		s.base(Running, n.at)
	}
}
