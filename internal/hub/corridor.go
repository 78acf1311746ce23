package hub

import (
	"context"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/tsmodule/host"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// arrival is one hook call as it came in, through whichever door.
type arrival struct {
	id        string
	agent     string // as named by the caller
	event     string
	seq       uint64 // of a caller that numbers its calls
	cwd       string
	payload   []byte
	env       []byte // NUL-separated; memory only
	truncated bool
	inner     bool          // for hooks in TypeScript alone
	pushed    bool          // by a program, not by a hook
	limit     time.Duration // how long the caller still waits; 0 is the catalogue's
	at        time.Time
	peer      proc.Cred
	gone      func(cancel func()) (stop func())       // calls cancel when the caller hangs up
	held      func(request, why string, input []byte) // tells a caller that shows a dialog of its own that a person is asked; may be nil
	after     func()                                  // what is left to do once the caller has its answer
	dry       *rehearsal                              // nothing of this happens; nil for what does
}

// finish does what waits for the answer: the journal and the observers come
// behind it.
func (h *Hub) finish(in *arrival) {
	h.recorder.Wake()
	if in.after != nil {
		in.after()
	}
}

// passage is what the rooms learn about an arrival on its way.
type passage struct {
	ev       event.Event
	caller   caller
	busy     map[string]bool // hooks below which the caller says it runs
	carries  event.Carries
	entries  []*hook.Entry // hooks meant for this event, in order
	project  string
	deadline time.Time
	outcome  hook.Outcome
	asked    *approvals.Asked // a person, in the feed
	neutral  services.Skip    // why nobody was asked
	meets    *happening
	twin     string // the arrival that told of the same happening before
}

// walk is the corridor: the way of one event, front to back.
// It is false when the hub ended on the way: whoever waits is then hung up on
// and asks the next hub, because half a decision is none. It is also false
// when the caller left.
func (h *Hub) walk(ctx context.Context, in *arrival) (neutral.Answer, event.Decision, bool) {
	p := h.decode(in) // native bytes → event
	h.meet(in, &p)    // told twice, through another agent's file?
	defer p.leave()
	h.take(in, &p) // intake: written down, so it may be acknowledged
	if p.twin == "" {
		h.apply(in, &p) // status, turn, title
	}
	if !h.share(ctx, in, &p) { // a twin gets what its first got
		h.weigh(ctx, in, &p) // what is to be done about it?
	}
	if p.withdrawn(ctx) {
		return neutral.Answer{}, event.Decision{}, false
	}
	p.settle()
	answer, decision := h.encode(&p) // decision → the agent's own words
	if p.twin == "" {
		h.sessions.ApplyDecision(&p.ev, decision)
	}
	h.conclude(in, &p, decision) // what came of it, for the journal and the streams
	return answer, decision, p.neutral != callerLeft
}

// weigh is where it is decided. Explain comes this way as well, with a
// rehearsal for which nothing may be used up, run or written down.
func (h *Hub) weigh(ctx context.Context, in *arrival, p *passage) {
	h.ask(ctx, in, p) // dispatch: guards and hooks in order, one merge
	if ctx.Err() != nil {
		return // half a decision is none
	}
	h.gate(p)               // what would go on for ever ends
	h.askPerson(ctx, in, p) // must a person decide? then wait
}

// note takes in what hookmux itself has to tell: its way ends at the intake.
func (h *Hub) note(in *arrival) {
	p := h.decode(in)
	_ = h.recorder.RecordEvent(in.id, in.at, &p.ev, in.payload) // the next event's own write reports a broken disk
	h.finish(in)
}

// decode turns the native payload into an event, in the dialect of whoever
// really called.
func (h *Hub) decode(in *arrival) passage {
	env := lookupIn(in.env)
	who := h.callers.of(in.peer.PID)
	named := in.agent
	if a, ok := h.deps.Catalogue.Agent(named); ok {
		named = a.Name
	}
	input := agent.Input{
		ID: in.id, Time: in.at, Agent: named, Event: in.event, Payload: in.payload,
		Cwd: in.cwd, Truncated: in.truncated, Env: env,
	}
	p := passage{caller: who, ev: h.read(input)}
	if who.agent != "" && who.agent != named {
		// An agent that reads another's config file calls under the other's
		// name. It is believed to be itself if it also talks like itself.
		input.Agent = who.agent
		if ev := h.read(input); ev.Malformed == "" && h.knows(who.agent, ev.Native) {
			p.ev = ev
		}
	}
	var signed bool
	p.busy, signed = h.marks.below(in.env)
	p.ev.Nested = who.nested || signed
	p.ev.Where = h.sessions.Locate(sessions.Process{PID: who.pid, Start: who.start, TTY: who.tty}, p.ev.Where, in.env)
	p.carries = h.deps.Catalogue.CarriesFor(&p.ev)
	p.deadline = in.at.Add(h.patience(in.limit, &p.ev))
	return p
}

// read decodes; a decoder that stumbles makes the event one that cannot be
// read, never one that passes unanswered.
func (h *Hub) read(in agent.Input) (ev event.Event) {
	defer func() {
		if p := recover(); p != nil {
			h.deps.Problems.Raise("decode", "a payload of "+in.Agent+" made the decoder stumble", "please report it with "+h.deps.Dirs.Log())
			h.deps.Log.Error("panic while decoding", "agent", in.Agent, "event", in.Event, "panic", p, "stack", stack())
			ev = event.Event{ID: in.ID, Time: in.Time, Agent: in.Agent, Native: in.Event, Kind: event.Other, Cwd: in.Cwd, Raw: in.Payload, Malformed: "the decoder stumbled over the payload"}
			if a, ok := h.deps.Catalogue.Agent(in.Agent); ok {
				ev.Kind = a.KindOf(in.Event)
			}
		}
	}()
	return h.deps.Catalogue.Decode(in)
}

// take writes the event down. From here on it survives the death of the hub.
func (h *Hub) take(in *arrival, p *passage) {
	if err := h.recorder.RecordEvent(in.id, in.at, &p.ev, in.payload); err != nil {
		h.deps.Problems.Raise("intake", "events cannot be written down before they are answered: "+err.Error(),
			"make room on the disk of "+h.deps.Dirs.Intake()+"; decisions go on meanwhile")
	} else if h.deps.Problems.Any() && h.recorder.Writable() {
		h.deps.Problems.Mend("intake")
	}
	if p.twin == "" {
		h.seen.note(&p.ev)
	}
}

// apply is where the status of the session follows the event.
func (h *Hub) apply(in *arrival, p *passage) {
	h.rounds.apply(&p.ev)
	h.selection.NoteSession(&p.ev)
	h.sessions.Apply(&p.ev, in.seq)
	h.approvals.Observe(&p.ev)
}

// ask runs the hooks that are meant for the event.
func (h *Hub) ask(ctx context.Context, in *arrival, p *passage) {
	if h.selection.Off.IsOff() {
		p.neutral = switchedOff
		return
	}
	h.summon(in, p)
	if in.dry.supposes(p) || len(p.entries) == 0 {
		return
	}
	call := hook.Call{Event: &p.ev, Project: p.project, Carries: p.carries}
	if !onlyGuards(p.entries) {
		call.Env = splitEnv(in.env) // hookmux's own guards don't look at it
	}
	if hook.Waits(p.entries, p.ev.Kind, p.carries) {
		if p.ev.Nested {
			defer h.nesting.Add(-1)
			if h.nesting.Add(1) > maxNested {
				p.outcome.Decision = event.Decision{Verdict: event.Deny, Reason: "hooks call hooks without end; look at what locked hooks run", By: "hookmux"}
				return
			}
		}
		p.outcome = h.decide(ctx, in, p, call)
	}
	if in.dry == nil && hook.Watched(p.entries, &p.ev, p.carries) {
		in.after = func() { h.tell(call, p.entries) }
	}
}

// summon finds the hooks that are meant for the event.
func (h *Hub) summon(in *arrival, p *passage) {
	p.entries, p.project, p.ev.Projects = h.selection.ForEvent(&p.ev, p.busy)
	p.entries = h.modules.WithLaunches(host.Call{
		Event: &p.ev, Carries: p.carries, Agent: host.Process{PID: p.caller.pid, Start: p.caller.start}, PeerPID: in.peer.PID,
	}, p.entries)
}

// maxNested bounds the events from below handlers that are being decided at
// once. A locked hook that calls hooks, and hides that from us, would
// otherwise meet itself until its time is over.
const maxNested = 16

// gate ends what would go on for ever: at a turn's end a deny means "go on".
func (h *Hub) gate(p *passage) {
	d := &p.outcome.Decision
	goesOn := d.KeepGoing || d.Verdict == event.Deny && p.ev.Kind.TakesKeepGoing()
	if goesOn && !h.rounds.mayGoOn(&p.ev) {
		d.KeepGoing = false
		if p.ev.Kind.TakesKeepGoing() {
			d.Verdict = event.None
		}
		d.NoteDegraded(event.Degradation{
			What: event.PartKeepGoing, Why: event.TooManyRounds, Detail: strconv.Itoa(maxRounds),
		})
	}
}

// encode answers in the agent's own words.
func (h *Hub) encode(p *passage) (neutral.Answer, event.Decision) {
	return h.deps.Catalogue.Encode(&p.ev, p.outcome.Decision)
}

// patience is how long the hub may take: what the client says is left, its
// margin already taken off, else the agent's own limit less the margin.
func (h *Hub) patience(left time.Duration, ev *event.Event) time.Duration {
	if left > 0 {
		return left
	}
	limit := time.Minute
	if a, ok := h.deps.Catalogue.Agent(ev.Agent); ok {
		if own := a.Timeout(ev.Native); own > 0 {
			limit = own
		}
	}
	return limit - frame.Margin(limit)
}

// knows reports whether an agent has an event of that name.
func (h *Hub) knows(name, native string) bool {
	a, ok := h.deps.Catalogue.Agent(name)
	if !ok {
		return false
	}
	_, ok = a.Event(native)
	return ok
}
