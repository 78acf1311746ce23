package session

// addAsk: a person must decide something now.
func (s *Session) addAsk(n *input) {
	if !s.Live() {
		s.reviveSession()
	}
	ask := Ask{At: n.at, Actor: n.actor, What: foldLine(n.ev.Message, maxSummary)}
	if tool := n.ev.Tool; tool != nil {
		ask.Call, ask.Tool, ask.Digest = tool.CallID, tool.Name, inputDigest(tool)
		if label := Label(tool, s.Cwd); label != "" {
			ask.What = label
		}
	}
	s.linkToCall(&ask)
	if s.callFinished(ask.Call) && !s.callOpen(ask.Call) {
		return // its result overtook the question
	}
	for i := range s.Machine.Calls {
		if c := &s.Machine.Calls[i]; c.Approved && c.ID == ask.Call && c.Digest == ask.Digest {
			return // asked again after the yes
		}
	}
	for i := range s.Asks {
		if old := &s.Asks[i]; old.Actor == ask.Actor && (ask.namesNoCall() || old.Call != "" && old.Call == ask.Call || old.Digest != 0 && old.Digest == ask.Digest && old.Tool == ask.Tool) {
			return // said again: it has waited since the first time
		}
	}
	// What was asked without saying about what is now said.
	for i := range s.Asks {
		if old := &s.Asks[i]; old.Actor == ask.Actor && old.namesNoCall() {
			ask.At = old.At
			s.Asks = replaceAt(s.Asks, i, ask)
			return
		}
	}
	s.Asks = appendBounded(s.Asks, ask, maxAsks)
	if s.Machine.Base == NeverRan || s.Machine.Base == Unsure {
		// Somebody is asked, so something goes on.
		if s.Turn.Open() {
			s.setBase(Running, n.at)
		} else {
			s.setBase(Idle, n.at)
		}
	}
}

// linkToCall finds the call a question is about where it does not name it: agents
// leave the id out, change the input in between, or use another tool name.
func (s *Session) linkToCall(ask *Ask) {
	if ask.Call != "" {
		return
	}
	calls := s.Machine.Calls
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

// namesNoCall reports whether nothing tells which call is asked about.
func (a *Ask) namesNoCall() bool { return a.Call == "" && a.Tool == "" }

// isAbout reports whether the question is about this call.
func (a *Ask) isAbout(c *Call) bool {
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

// resolveAsk: somebody answered, or the question was taken back.
func (s *Session) resolveAsk(n *input) {
	if len(s.Asks) == 0 {
		return
	}
	drop := -1
	if tool := n.ev.Tool; tool != nil {
		call := Call{ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool)}
		for i := range s.Asks {
			if s.Asks[i].isAbout(&call) {
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
	s.Asks = removeWhere(s.Asks, func(*Ask) bool { i++; return i == drop })
	if s.Turn.Open() {
		s.setBase(Running, n.at)
	}
}
