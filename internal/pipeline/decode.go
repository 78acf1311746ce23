package pipeline

import (
	"runtime/debug"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// identify finds out which process called, of which agent, and below which hooks it runs.
func (p *Pipeline) identify(c *call) {
	named := p.Deps.AgentName(c.Frame.Agent)
	c.caller = callerOf(p.Callers, p.Deps.Catalogue, c.Peer.PID, named, c.Frame.Event)
	c.speaker = c.caller.Agent
	if c.speaker == "" {
		c.speaker = markedCaller(p.callerVariables[named], proc.LookupEnv(c.Frame.Env))
	}
}

// decode turns the native payload into an event, in the dialect of the agent that really
// called.
func (p *Pipeline) decode(c *call) {
	var signed bool
	c.busy, signed = p.Marks.readMarks(c.Frame.Env)
	input := agent.Input{
		ID: c.Frame.ID, Time: c.At, Agent: p.Deps.AgentName(c.Frame.Agent), Event: c.Frame.Event,
		Payload: c.Frame.Payload, Cwd: c.Frame.Cwd, Truncated: c.Frame.Truncated, Env: proc.LookupEnv(c.Frame.Env),
		Nested: c.caller.Nested || signed,
	}
	c.Event = p.decodePayload(input)
	defer c.confineEvent()
	speaks, ok := p.Deps.Catalogue.Agent(c.speaker)
	if !ok || c.speaker == input.Agent || speaks.Guest {
		return
	}
	// An agent that reads another's config file calls under the other's name. It is believed
	// to be itself if its payload is also one of its own.
	input.Agent = c.speaker
	if ev := p.decodePayload(input); ev.Malformed == "" && p.knowsEvent(c.speaker, ev.Native) {
		c.Event = ev
	}
}

// locate adds where the agent runs, who reviews its requests, what it can take back and
// until when it waits.
func (p *Pipeline) locate(c *call) {
	who := c.caller
	if c.Container != "" {
		p.locateContained(c)
		return
	}
	c.Event.Where = p.Sessions.Locate(sessions.Process{
		PID: who.PID, Start: who.Start, TTY: who.TTY, Holder: who.Holder, HolderStart: who.HolderStart,
	}, c.Event.Where, c.Frame.Env)
	c.Event.Reviewer = p.Sessions.ReviewerOf(&c.Event, c.Frame.Env)
	c.Carries = p.Deps.Catalogue.CarriesFor(&c.Event)
	c.Deadline = c.At.Add(p.timeLimit(c.Frame.Deadline, &c.Event))
}

// decodePayload decodes; a decoder that panics makes the event one that cannot
// be read, never one that passes unanswered.
func (p *Pipeline) decodePayload(in agent.Input) (ev event.Event) {
	defer func() {
		if problem := recover(); problem != nil {
			p.Deps.Problems.Raise("decode", "a payload of "+in.Agent+" made the decoder stumble",
				"please report it with "+p.Deps.Dirs.Log())
			p.Deps.Log.Error("panic while decoding", "agent", in.Agent, "event", in.Event, "panic",
				problem, "stack", string(debug.Stack()))
			ev = event.Event{
				ID: in.ID, Time: in.Time, Agent: in.Agent, Native: in.Event, Kind: event.Other, Cwd: in.Cwd,
				Raw: in.Payload, Nested: in.Nested,
				Malformed: "the decoder stumbled over the payload",
			}
			if a, ok := p.Deps.Catalogue.EntryOf(in.Agent, in.Event); ok {
				ev.Kind = a.KindOf(in.Event)
			}
		}
	}()
	return p.Deps.Catalogue.Decode(in)
}

// timeLimit returns how long the daemon may take: what the client says is left, its
// margin already taken off, else the agent's own limit less the margin.
func (p *Pipeline) timeLimit(left time.Duration, ev *event.Event) time.Duration {
	if left > 0 {
		return left
	}
	limit := time.Minute
	if a, ok := p.Deps.Catalogue.EntryOf(ev.Agent, ev.Native); ok {
		if own := a.Timeout(ev.Native); own > 0 {
			limit = own
		}
	}
	return limit - frame.Margin(limit)
}

// knowsEvent reports whether an agent has an event of that name.
func (p *Pipeline) knowsEvent(name, native string) bool {
	a, ok := p.Deps.Catalogue.Agent(name)
	if !ok {
		return false
	}
	_, ok = a.Event(native)
	return ok
}
