package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// desk is where requests for a person lie, with everything a person decided
// that lasts.
type desk struct {
	deps   services.Deps
	hub    *Hub
	table  *queue.Table
	served policy.Served
	notes  notes
	once   policy.Once
	grants *ledger.Grants
	book   *ledger.Book
	pin    *ledger.PIN

	surfaces atomic.Int32 // streams of the feed that somebody looks at
	watchers *watchers
	sinks    atomic.Int32 // ways by which a person far away hears of requests
	away     atomic.Pointer[awayState]
	sink     sink
	grace    time.Duration // how long those who left may be back in

	mu      sync.Mutex
	crowded map[crowd]bool // of whom too many requests wait; said once
}

func newDesk(h *Hub) *desk {
	d := &desk{deps: h.deps, hub: h, table: queue.NewTable(), book: ledger.NewBook(h.deps.Dirs.State), crowded: map[crowd]bool{}, grace: returnsWithin}
	d.sink.hub, d.sink.deps = h, h.deps
	d.watchers = newWatchers(h)
	var err error
	if d.grants, err = ledger.OpenGrants(h.deps.Dirs.State); err != nil {
		h.deps.Problems.Raise("grants", "standing grants do not count: "+err.Error(), "`hookmux allow list` shows what counts; grant it again where you want it")
	}
	if d.pin, err = ledger.OpenPIN(h.deps.Dirs.State); err != nil {
		h.deps.Problems.Raise("pin", "approvals are shut: "+err.Error(), "remove the file to begin without a PIN")
	}
	d.loadAway()
	return d
}

// close lets everybody go who waits, once those who were answered have passed
// it on.
func (d *desk) close() {
	d.table.Close()
	for end := time.Now().Add(time.Second); d.table.Handing() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// someone reports whether anybody could answer: somebody looks at the feed, is
// told of requests where they are, or said that they went away and want them
// kept.
func (d *desk) someone() bool {
	return d.surfaces.Load() > 0 || d.sinks.Load() > 0 || d.away.Load() != nil || d.sink.works()
}

// attended is someone for an event: those who followed the hub before this one
// and are not back yet are waited for, half as long as the agent has.
func (d *desk) attended(ctx context.Context, p *passage) bool {
	if !d.someone() {
		d.watchers.await(ctx, time.Until(p.deadline)/2)
	}
	return d.someone()
}

// see takes an event as a sign for requests that wait or were answered. It is
// on the way of every event, and nearly always there is nothing to see.
func (d *desk) see(ev *event.Event) {
	d.served.See(ev)
	d.notes.see(ev)
	a, _ := d.deps.Catalogue.Agent(ev.Agent)
	answered := ""
	if a != nil {
		answered = a.Feed.AnsweredBy(ev)
	}
	d.table.See(ev, answered)
	if ev.Kind == event.SessionEnd {
		if err := d.grants.EndSession(ev.Agent, ev.Session); err != nil {
			d.deps.Log.Warn("grants of an ended session could not be taken off the disk", "error", err)
		}
	}
}

// asks reports whether a person may be asked about an event of this kind at
// all; everything else passes by.
func asks(k event.Kind) bool {
	return k == event.ToolBefore || k == event.PermissionRequest || k == event.UserQuestion || k == event.UserPlan
}

// consult lets a grant or a person decide where one must. It comes after guards
// and hooks, and holds the agent only while somebody could answer.
func (h *Hub) consult(ctx context.Context, in *arrival, p *passage) {
	if p.ev.Kind == event.ToolAfter {
		h.tellNote(in, p)
	}
	if !asks(p.ev.Kind) || p.neutral != "" {
		return
	}
	seen, need, spec := h.need(p)
	if spec == nil {
		return
	}
	d := &p.outcome.Decision
	served := h.desk.served.Take
	if in.dry != nil {
		served = h.desk.served.Peek
	}
	if said, ok := served(seen); ok {
		*d = carryOver(*d, said)
		in.dry.says("a person was asked about this call before, and what they said counts")
		return
	}
	if spec.Repeats {
		again := h.desk.once.Again
		if in.dry != nil {
			again = h.desk.once.Knows
		}
		if again(seen) {
			in.dry.says("a person was asked about this call before; it is not put to anybody again")
			return
		}
	}
	hold := func() time.Duration {
		return spec.HoldFor(p.ev.Native, time.Until(p.deadline), h.rules.wait(&p.ev), h.desk.away.Load() != nil)
	}
	if !h.put(ctx, in, p, question{seen: seen, need: need, hold: hold}) {
		h.askThere(p, d, spec)
	}
}

// question is what is put to grants and people, whichever door it came by.
type question struct {
	seen *event.Event // as hooks changed it
	need policy.Need
	hold func() time.Duration // how long it may wait from now
	key  string               // by which a program that pushed it knows it
}

// put lets a grant answer, else a person. It is false when nobody is there, or
// too much waits for them already.
func (h *Hub) put(ctx context.Context, in *arrival, p *passage, q question) bool {
	project := h.projectFor(p)
	granted := h.desk.grants.Match
	if in.dry != nil {
		granted = h.desk.grants.Find
	}
	if grant, ok := granted(q.seen, project, q.need, time.Now()); ok {
		h.approve(&p.outcome.Decision, queue.Said{Answer: event.Answer{Choice: event.ChooseAlways}}, "grant "+grant.ID)
		in.dry.says("grant " + grant.ID + " lets it pass; `hookmux allow list` shows it")
		return true
	}
	if in.dry != nil {
		if q.hold() > 0 {
			in.dry.says("a person would be asked in the feed, while one is there: " + wordsOf(q.need))
		}
		return h.desk.someone()
	}
	if !h.desk.attended(ctx, p) {
		return false
	}
	if hold := q.hold(); hold > 0 {
		r := h.request(p, q.seen, q.need, project, hold)
		r.Key = q.key
		h.wait(ctx, in, p, r, q.seen)
		return p.asked != nil // else too many wait already
	}
	return true
}

// askThere puts a call that nobody elsewhere could answer to the person at the
// agent, where the agent has no prompt of its own and the user wants to be
// asked: no opinion would let it run.
func (h *Hub) askThere(p *passage, d *event.Decision, spec *agent.Feed) {
	if spec.Promptless && p.carries.Ask && p.ev.Attended == event.AttendedYes && d.Verdict != event.Ask {
		d.Verdict, d.By, d.Reason = event.Ask, "gate", "you chose to be asked about calls with side effects"
	}
}

// projectFor is the folder a grant for the project of an event counts in: the
// one with hooks of its own, else the repository.
func (h *Hub) projectFor(p *passage) string {
	if p.project != "" {
		return p.project
	}
	return h.rules.repositoryOf(p.ev.Cwd)
}

// need is what a person must be asked about an event, with the event as hooks
// changed it. Without a feed nobody is asked.
func (h *Hub) need(p *passage) (*event.Event, policy.Need, *agent.Feed) {
	a, ok := h.deps.Catalogue.Agent(p.ev.Agent)
	if !ok || a.Feed == nil {
		return nil, policy.Need{}, nil
	}
	spec, ok := a.Event(p.ev.Native)
	if !ok {
		return nil, policy.Need{}, nil
	}
	seen := &p.ev
	if change := p.outcome.Decision.Input; change != nil && p.ev.Tool != nil {
		changed := p.ev
		h.deps.Catalogue.WithInput(&changed, event.MergeObjects(p.ev.Tool.Input, change))
		seen = &changed
	}
	level, chosen := h.rules.gateLevel(&p.ev)
	need, ok := policy.Look(policy.Case{
		Event: seen, Spec: spec, Feed: a.Feed, Carries: p.carries, Level: level, Chosen: chosen, Free: h.free(a, &p.ev),
		So: p.outcome.Decision,
	})
	if !ok {
		return nil, policy.Need{}, nil
	}
	return seen, need, a.Feed
}

// request makes a need into what is put to a person.
func (h *Hub) request(p *passage, seen *event.Event, need policy.Need, project string, hold time.Duration) queue.Request {
	ev := *seen // the corridor goes on with its own
	now := time.Now()
	r := queue.Request{Need: need, Event: &ev, Project: project, Suggestions: ev.Suggestions, Opened: now, Until: now.Add(hold)}
	title := ev.Agent
	if a, ok := h.deps.Catalogue.Agent(ev.Agent); ok {
		title, r.Number = a.Title, a.Feed.NumberOf(&ev)
	}
	if need.Kind == policy.Permission && need.Offers(event.ChooseAlways) {
		if rule, err := policy.RuleFor(&ev); err != nil {
			r.NoRule = err.Error()
		} else {
			r.Rule = &rule
		}
	}
	if need.Veto {
		r.Note = title + " can only be refused here; otherwise its own rules apply"
	}
	sent := &p.ev
	if seen == sent {
		sent = nil
	}
	queue.Show(&r, title, sent)
	return r
}

// wait opens a request and takes what comes of it into the decision.
func (h *Hub) wait(ctx context.Context, in *arrival, p *passage, r queue.Request, seen *event.Event) {
	h.recorder.Wake() // who watches wants to see what is being asked
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.Pushed = in.pushed
	ticket, err := h.desk.table.Open(r)
	if errors.Is(err, queue.ErrCrowded) || errors.Is(err, queue.ErrFlooded) {
		h.desk.crowd(&r, err)
		p.neutral = err.Error()
		return
	}
	if err != nil {
		p.asked = &asked{end: queue.HubStops}
		return
	}
	var left atomic.Bool
	if in.gone != nil {
		stop := in.gone(func() { left.Store(true); cancel() })
		defer stop()
	}
	if in.held != nil {
		in.held(ticket.ID(), r.Need.Why, changedInput(seen))
	}
	h.desk.guardAgent(ctx, ticket, &p.ev)
	if p.ev.Kind == event.ToolBefore { // the others say themselves that somebody is asked
		h.sessions.ApplyWaiting(&p.ev, true)
		defer h.sessions.ApplyWaiting(&p.ev, false)
	}
	began := time.Now()
	result := ticket.Wait(ctx)
	h.desk.thinned(&r)
	p.asked = &asked{request: result.ID, end: result.End, took: time.Since(began)}
	switch result.End {
	case queue.Answered:
		in.then(ticket.Passed)
		h.answered(&p.outcome.Decision, result.Said)
		h.desk.served.Keep(seen, p.outcome.Decision)
		if a, _ := h.deps.Catalogue.Agent(p.ev.Agent); result.Said.Verdict != event.Deny && result.Said.Answer.Note != "" && !p.carries.Context && hearsAfter(a) {
			h.desk.notes.keep(seen, result.Said.Answer.Note)
		}
	case queue.HookGone, queue.AgentGone:
		if left.Load() {
			p.neutral = callerLeft
		}
	case queue.Overrun:
		// The hook still waits, so what was reported is not about this call, or
		// not true. A turn that is really over loses nothing by a no.
		if left.Load() {
			p.neutral = callerLeft
		} else if d := &p.outcome.Decision; d.Verdict != event.Ask {
			*d = event.Decision{Verdict: event.Deny, By: "hookmux", Reason: "the turn went on while a person was asked about this call; try it again"}
		}
	}
}

// changedInput is the input of a call as hooks changed it, on one line; nil
// when nobody did.
func changedInput(ev *event.Event) []byte {
	if ev.Tool == nil || ev.Tool.Changed == nil {
		return nil
	}
	var line bytes.Buffer
	if json.Compact(&line, ev.Tool.Changed) != nil {
		return nil
	}
	return line.Bytes()
}

// asked is what the corridor remembers of a request.
type asked struct {
	request string
	end     queue.End
	took    time.Duration
}

// withdrawn: the hub stops, and half a decision is none. What a person said to
// be delivered is a whole one.
func (p *passage) withdrawn(ctx context.Context) bool {
	if p.asked == nil {
		return ctx.Err() != nil
	}
	return p.asked.end == queue.HubStops || ctx.Err() != nil && p.asked.end != queue.Answered
}

// then adds to what is done once the caller has its answer.
func (in *arrival) then(do func()) {
	before := in.after
	in.after = func() {
		do()
		if before != nil {
			before()
		}
	}
}

// answered makes a person's answer the decision.
func (h *Hub) answered(d *event.Decision, said queue.Said) {
	if said.Verdict == event.Deny {
		answer := said.Answer
		d.Verdict, d.Reason, d.By, d.Answer = event.Deny, said.Reason, "person", &answer
		d.Input, d.Allowed = nil, false
		return
	}
	h.approve(d, said, "person")
}

// approve makes a decision a yes: to the call as it came, or as hooks changed
// it.
func (h *Hub) approve(d *event.Decision, said queue.Said, by string) {
	answer := said.Answer
	d.Verdict, d.Reason, d.By, d.Answer = event.Allow, said.Reason, by, &answer
	if d.Input != nil {
		d.Verdict, d.Allowed = event.Modify, true
	}
}

// carryOver lets an answer given at an earlier event of the same call count
// again, with what hooks said this time.
func carryOver(now, said event.Decision) event.Decision {
	now.Verdict, now.Reason, now.By, now.Answer = said.Verdict, said.Reason, said.By, said.Answer
	switch {
	case said.Verdict == event.Deny:
		now.Input, now.Allowed = nil, false
	case now.Input != nil:
		now.Verdict, now.Allowed = event.Modify, true
	case said.Verdict == event.Modify:
		now.Verdict = event.Allow // the call comes changed already
	}
	return now
}

// gateKey is the setting that counts for an agent. There are as many as the
// catalogue has agents, and each is asked for at every call.
func (r *rules) gateKey(agent string) string {
	if key, ok := r.gateKeys.Load(agent); ok {
		return key.(string)
	}
	key := config.Gate
	if _, ok := config.Find(config.Gate + "." + agent); ok {
		key += "." + agent
	}
	if _, known := r.deps.Catalogue.Agent(agent); known {
		r.gateKeys.Store(agent, key)
	}
	return key
}

// gateLevel is what of an agent's doing becomes a request, and whether the
// user said so. Where two projects have a say the tighter one counts.
func (r *rules) gateLevel(ev *event.Event) (policy.Level, bool) {
	key := r.gateKey(ev.Agent)
	level, chosen := policy.Off, false
	for i, s := range r.view(r.placesOf(ev)).settings {
		if s == nil {
			continue
		}
		e, _ := s.Get(key)
		word, _ := e.Value.(string)
		if one := policy.Level(word); i == 0 || policy.Tighter(one, level) {
			level, chosen = one, !e.Default
		}
	}
	return level, chosen
}

// wait is how long an agent is held whose own prompt cannot be used meanwhile.
func (r *rules) wait(ev *event.Event) time.Duration {
	if s := r.view(r.placesOf(ev)).settings[0]; s != nil {
		return s.Span(config.FeedWait)
	}
	return 2 * time.Minute
}

// Sink counts one more or one less way by which a person hears of requests who
// runs the hub inside their own program. The setting feed.push is the other.
func (h *Hub) Sink(more bool) {
	if more {
		h.desk.sinks.Add(1)
	} else {
		h.desk.sinks.Add(-1)
	}
}

// grantInfo is a grant as programs see it.
func grantInfo(g policy.Grant, used uint64) wire.GrantInfo {
	info := wire.GrantInfo{
		ID: g.ID, Agent: g.Agent, Scope: string(g.Scope), Session: g.Session, Project: g.Project, Rule: g.Rule.Text(),
		Reach: g.Reach(), Asked: g.Asked, Created: g.Created, By: g.By, Used: used,
	}
	if !g.Expires.IsZero() {
		at := g.Expires
		info.Expires = &at
	}
	return info
}
