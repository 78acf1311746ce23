package state

import (
	"github.com/hookmux/hookmux/event"
)

// Waits reports whether you must decide something.
func (q *Questions) Waits() bool { return !q.WaitingSince.IsZero() }

// isInInbox reports whether the inbox has a request about the question.
func (q *Questions) isInInbox(ask *Ask) bool {
	for i := range q.Requests {
		if q.Requests[i].Ask != 0 && q.Requests[i].Ask == ask.N {
			return true
		}
	}
	return false
}

// OpenAsks returns the questions that only the agent's own prompt asks.
func (q *Questions) OpenAsks() []Ask {
	var open []Ask
	for i := range q.Asks {
		if !q.isInInbox(&q.Asks[i]) {
			open = append(open, q.Asks[i])
		}
	}
	return open
}

// endOpenAsk takes the agent's own question out, or remembers which request it
// was while it stays open.
func (q *Questions) endOpenAsk(id string, number int, settled bool) {
	if settled {
		q.Asks = removeWhere(q.Asks, func(a *Ask) bool { return a.N == number })
		return
	}
	for i := range q.Asks {
		if q.Asks[i].N == number {
			ask := q.Asks[i]
			ask.Request = id
			q.Asks = replaceAt(q.Asks, i, ask)
			return
		}
	}
}

// findAsk returns the open question that an event put, nil when there is none.
func (q *Questions) findAsk(n *input) *Ask {
	if n.ev.Kind == event.ToolBefore && (n.ev.Tool == nil || n.ev.Tool.Kind != event.Question) {
		return nil // before a call the agent itself asks nothing
	}
	for i := range q.Asks {
		ask := &q.Asks[i]
		if q.isInInbox(ask) {
			continue
		}
		if tool := n.ev.Tool; tool != nil {
			call := Call{ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool)}
			if ask.isAbout(&call) {
				return ask
			}
		} else if ask.Actor == n.actor && ask.namesNoCall() {
			return ask
		}
	}
	return nil
}

// askAnswered returns the place of the question that an event answers or takes back:
// the one about its call, else the actor's first; -1 when there is none.
func (q *Questions) askAnswered(n *input) int {
	if tool := n.ev.Tool; tool != nil {
		call := Call{ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool)}
		for i := range q.Asks {
			if q.Asks[i].isAbout(&call) {
				return i
			}
		}
	}
	for i := range q.Asks {
		if q.Asks[i].Actor == n.actor {
			return i
		}
	}
	return -1
}

// askPutBy returns the place of the question that this very event put, -1 when there
// is none. Another question of the same actor is not meant.
func (q *Questions) askPutBy(n *input) int {
	for i := range q.Asks {
		ask := &q.Asks[i]
		if tool := n.ev.Tool; tool != nil {
			if ask.isAbout(&Call{ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool)}) {
				return i
			}
		} else if ask.Actor == n.actor && ask.At.Equal(n.ev.Time) {
			return i
		}
	}
	return -1
}

// namesNoCall reports whether it isn't known which call is asked about.
func (a *Ask) namesNoCall() bool { return a.Call == "" && a.Tool == "" }

// isAbout reports whether the question is about this call.
func (a *Ask) isAbout(c *Call) bool {
	if a.Call != "" && c.ID != "" {
		return a.Call == c.ID
	}
	if a.Tool == "" {
		return false
	}
	if a.PutTool != "" && a.PutTool == c.Tool && a.PutDigest == c.Digest {
		return true
	}
	if a.Tool == c.Tool && (a.Digest == c.Digest || a.Digest == 0 || c.Digest == 0) {
		return true
	}
	return false
}

func (a *Ask) inWords() string {
	if a.What != "" {
		return a.What
	}
	return a.Tool
}
