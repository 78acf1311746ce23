package transcript

// CallState is what a transcript tells about a tool call.
type CallState int

// What can be known about a call.
const (
	CallUnknown CallState = iota // not written down, as far as was read
	CallPending                  // written down, no result yet
	CallAllowed                  // a person allowed it, no result yet
	CallDenied                   // a person refused it
	CallDone                     // its result is written down
)

// maxCalls is how many calls are remembered, the latest ones.
const maxCalls = 512

// Calls remembers the tool calls a transcript tells of: has this one's result
// or a decision about it appeared?
type Calls struct {
	state map[string]CallState
	facts map[string]Fact
	order []string
}

// Take remembers what facts say about calls.
func (c *Calls) Take(facts []Fact) {
	if c.state == nil {
		c.state, c.facts = map[string]CallState{}, map[string]Fact{}
	}
	for _, f := range facts {
		if f.Call == "" {
			continue
		}
		was, known := c.state[f.Call]
		switch f.Kind {
		case CallBegan:
			if !known {
				c.state[f.Call] = CallPending
			}
			c.facts[f.Call] = f
		case CallEnded:
			c.state[f.Call] = CallDone
			if f.Denied {
				c.state[f.Call] = CallDenied
			}
		case Decided:
			if was == CallDone {
				continue
			}
			c.state[f.Call] = CallAllowed
			if f.Denied {
				c.state[f.Call] = CallDenied
			}
		default:
			continue
		}
		if !known {
			c.order = append(c.order, f.Call)
		}
	}
	for len(c.order) > maxCalls {
		delete(c.state, c.order[0])
		delete(c.facts, c.order[0])
		c.order = c.order[1:]
	}
}

// State is what is known about a call.
func (c *Calls) State(call string) CallState { return c.state[call] }

// Pending lists the calls that are written down and have neither a result nor
// an answer, oldest first: with tool and input, for agents whose permission
// prompt names no call.
func (c *Calls) Pending() []Fact {
	var out []Fact
	for _, id := range c.order {
		if f, ok := c.facts[id]; ok && c.state[id] == CallPending {
			out = append(out, f)
		}
	}
	return out
}
