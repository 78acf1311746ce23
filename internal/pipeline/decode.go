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

// decode turns the native payload into an event, in the dialect of whoever
// really called.
func (p *Pipeline) decode(call *HookCall) *pipelineState {
	named := p.Deps.AgentName(call.Agent)
	who := callerOf(p.Callers, p.Deps.Catalogue, call.Peer.PID, named, call.Event)
	input := agent.Input{
		ID: call.ID, Time: call.At, Agent: named, Event: call.Event, Payload: call.Payload,
		Cwd: call.Cwd, Truncated: call.Truncated, Env: proc.LookupEnv(call.Env),
	}
	s := &pipelineState{caller: who, ev: p.decodePayload(input)}
	s.speaker = who.Agent
	if s.speaker == "" {
		s.speaker = markedCaller(p.callerVariables[named], input.Env)
	}
	speaker := s.speaker
	if speaks, ok := p.Deps.Catalogue.Agent(speaker); ok && speaker != named && !speaks.Guest {
		// An agent that reads another's config file calls under the other's
		// name. It is believed to be itself if it also talks like itself.
		input.Agent = speaker
		if ev := p.decodePayload(input); ev.Malformed == "" && p.knowsEvent(speaker, ev.Native) {
			s.ev = ev
		}
	}
	var signed bool
	s.busy, signed = p.Marks.readMarks(call.Env)
	s.ev.Nested = who.Nested || signed
	s.ev.Where = p.Sessions.Locate(sessions.Process{
		PID: who.PID, Start: who.Start, TTY: who.TTY, Holder: who.Holder, HolderStart: who.HolderStart,
	}, s.ev.Where, call.Env)
	s.ev.Reviewer = p.Sessions.ReviewerOf(&s.ev, call.Env)
	s.carries = p.Deps.Catalogue.CarriesFor(&s.ev)
	s.deadline = call.At.Add(p.timeLimit(call.Limit, &s.ev))
	return s
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
				Raw:       in.Payload,
				Malformed: "the decoder stumbled over the payload",
			}
			if a, ok := p.Deps.Catalogue.EntryOf(in.Agent, in.Event); ok {
				ev.Kind = a.KindOf(in.Event)
			}
		}
	}()
	return p.Deps.Catalogue.Decode(in)
}

// timeLimit is how long the daemon may take: what the client says is left, its
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
