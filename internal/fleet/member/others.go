package member

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// others are the other machines of the fleet, if this member may see them.
type others struct {
	run *run

	mu      sync.Mutex
	sources map[string]*source // by member
}

// follow keeps the other machines up to date until ctx ends: all of them with each
// connection, then what changes.
func (o *others) follow(ctx context.Context) {
	if !protocol.SeesOthers(o.run.record.Role) {
		<-ctx.Done()
		return
	}
	sub, err := o.run.conn.Load().Subscribe(protocol.LiveSubject("*"), func(msg *nats.Msg) {
		var host protocol.Host
		if json.Unmarshal(msg.Data, &host) == nil {
			o.note(ctx, host)
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(8192, 64<<20)
	}
	if err != nil {
		o.run.service.Log.Error("other machines of the fleet can't be followed", "error", err)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.run.greeted:
		}
		for attempt := 0; !o.readAll(ctx) && o.run.ready.Load(); attempt++ {
			if services.Pause(retryDelay(attempt), ctx.Done()) {
				return
			}
		}
	}
}

// readAll reads every machine's state; what has gone in the meantime is removed.
func (o *others) readAll(ctx context.Context) bool {
	seen := map[string]bool{}
	for after, more := "", true; more; {
		asking, cancel := context.WithTimeout(ctx, askWithin)
		told, err := o.run.ask(asking, protocol.Ask{What: protocol.AskHosts, Member: after})
		cancel()
		if err != nil {
			return false
		}
		for _, host := range told.Hosts {
			after = host.Member
			seen[host.Member] = true
			o.note(ctx, host)
		}
		more = told.More && len(told.Hosts) > 0
	}
	for _, id := range o.ids() {
		if !seen[id] {
			o.note(ctx, protocol.Host{Member: id, Gone: true})
		}
	}
	return true
}

func (o *others) ids() (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id := range o.sources {
		ids = append(ids, id)
	}
	return ids
}

// notShown is the problem of a machine whose name another one has here; its id follows.
const notShown = "fleet-host:"

// note records what the server says about a machine.
func (o *others) note(ctx context.Context, host protocol.Host) {
	if host.Member == o.run.id() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.sources[host.Member]
	switch {
	case host.Gone:
		if s != nil {
			delete(o.sources, host.Member)
			o.run.service.Hosts.Remove(s.name)
		}
		o.run.service.Problems.Clear(notShown + host.Member)
		return
	case s == nil:
		s = &source{run: o.run, member: host.Member, name: host.Name, changes: make(chan struct{}, 1)}
		s.take(host)
		if err := o.run.service.Hosts.Add(ctx, s); err != nil {
			o.run.service.Problems.Set(notShown+host.Member, "a machine of the fleet isn't shown: "+err.Error(),
				"remove one of the two")
			return
		}
		o.run.service.Problems.Clear(notShown + host.Member)
		if o.sources == nil {
			o.sources = map[string]*source{}
		}
		o.sources[host.Member] = s
		return
	}
	s.take(host)
	poke(s.changes)
}

// disconnected marks every machine: nothing is known about them while the server is away.
func (o *others) disconnected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.sources {
		poke(s.changes)
	}
}

func (o *others) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.sources {
		o.run.service.Hosts.Remove(s.name)
	}
	o.sources = nil
}

// attends reports whether someone who may answer looks at requests of the fleet here.
func (o *others) attends() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.sources {
		if s.attended() {
			return true
		}
	}
	return false
}

// source is another machine of the fleet, as [fleet.Source].
type source struct {
	run     *run
	member  string
	name    string
	changes chan struct{}

	mu       sync.Mutex
	since    time.Time
	lost     bool
	why      string // why what it sends breaks the rules
	version  string
	sessions []wire.Session
	requests []wire.InboxRequest
	attend   bool
}

// take receives a machine's state. Nothing of it is trusted before it's checked.
func (s *source) take(host protocol.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := host.Lost || host.State == nil
	if s.since.IsZero() || lost != s.lost {
		s.since = time.Now()
	}
	s.lost, s.why = lost, ""
	if lost {
		s.requests = nil
		return
	}
	state := host.State
	if len(state.Sessions) > fleet.MaxSessions || len(state.Requests) > fleet.MaxRequests {
		s.why = "it sent more than a machine may have"
	}
	for i := range state.Sessions {
		if err := fleet.CheckSession(&state.Sessions[i]); err != nil {
			s.why = "it sent " + err.Error()
		}
	}
	for i := range state.Requests {
		if err := fleet.CheckRequest(&state.Requests[i]); err != nil {
			s.why = "it sent " + err.Error()
		}
	}
	if s.why != "" {
		s.sessions, s.requests = nil, nil
		return
	}
	s.version, s.sessions, s.requests = termsafe.Line(state.Version, 40), state.Sessions, state.Requests
}

func (s *source) Name() string { return s.name }

// Link implements [fleet.Source].
func (s *source) Link() fleet.Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	link := fleet.Link{Kind: wire.HostFleet, Target: s.member, Scope: wire.ScopeRead, State: wire.HostConnected, Since: s.since,
		Version: s.version}
	if s.run.record.Role == protocol.RoleOperator {
		link.Scope = wire.ScopeAnswer
	}
	switch {
	case !s.run.ready.Load():
		link.State = wire.HostLost
		s.run.mu.Lock()
		link.Why, link.Since = s.run.why, s.run.since
		s.run.mu.Unlock()
	case s.why != "":
		link.State, link.Why = wire.HostRefused, s.why
	case s.lost:
		link.State, link.Why = wire.HostLost, "the fleet hasn't heard of it"
	}
	return link
}

// Sessions implements [fleet.Source].
func (s *source) Sessions() []wire.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sessions)
}

// Requests implements [fleet.Source].
func (s *source) Requests() []wire.InboxRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Changes implements [fleet.Source].
func (s *source) Changes() <-chan struct{} { return s.changes }

// Session implements [fleet.Source].
func (s *source) Session(_ context.Context, id string) (wire.SessionDetail, *wire.Error) {
	for _, one := range s.Sessions() {
		if one.ID == id {
			return wire.SessionDetail{Session: one}, nil
		}
	}
	return wire.SessionDetail{}, wire.Errorf(wire.CodeGone, "%s has no session %q", s.name, id)
}

// Answer implements [fleet.Source].
func (s *source) Answer(ctx context.Context, p wire.InboxReplyParams, by string) (wire.InboxReplyResult, *wire.Error) {
	return s.answer(ctx, protocol.Answer{Reply: p}, by)
}

// Skip implements [fleet.Source].
func (s *source) Skip(ctx context.Context, id, by string) (wire.InboxReplyResult, *wire.Error) {
	return s.answer(ctx, protocol.Answer{Reply: wire.InboxReplyParams{ID: id}, Skip: true}, by)
}

// answer signs an answer with this machine's key and sends it to the machine that asks.
func (s *source) answer(ctx context.Context, a protocol.Answer, by string) (wire.InboxReplyResult, *wire.Error) {
	var none wire.InboxReplyResult
	m := s.run.membership
	pin := a.Reply.PIN
	a.Reply.PIN = ""
	a.Fleet, a.Member, a.From, a.User = m.Fleet, s.member, s.run.id(), s.run.service.User()
	if by != "" {
		a.User += ", " + by
	}
	pair, err := nkeys.FromSeed(m.Seed)
	if err != nil {
		return none, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	signed, err := protocol.SignAnswer(pair, m.Record, &a)
	if err != nil {
		return none, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	signed.PIN = pin
	b, err := json.Marshal(signed)
	if err != nil {
		return none, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	said, err := protocol.SendAnswer(ctx, s.run.conn.Load(), s.member, s.run.id(), b)
	if err != nil {
		return none, wire.Errorf(wire.CodeGone, "%s can't be reached through the fleet: %v; whether it got the answer isn't known", s.name, err)
	}
	var result protocol.AnswerResult
	switch {
	case json.Unmarshal(said, &result) != nil || result.Error == nil && result.Result == nil:
		return none, wire.Errorf(wire.CodeInternal, "%s gave an answer that can't be read", s.name)
	case result.Error != nil:
		return none, wire.Errorf(result.Error.Code, "%s says: %s", s.name, termsafe.Line(result.Error.Message, 400))
	case fleet.CheckTexts(result.Result) != nil:
		return none, wire.Errorf(wire.CodeInternal, "%s gave an answer that isn't safe to show", s.name)
	}
	return *result.Result, nil
}

// Send implements [fleet.Source]: texts go to sessions of one's own machine.
func (s *source) Send(context.Context, wire.SessionSendParams, string) (wire.SessionSent, *wire.Error) {
	return wire.SessionSent{}, wire.Errorf(wire.CodeRefused, "texts can't be sent through the fleet; send it on %s", s.name)
}

// Attend implements [fleet.Source].
func (s *source) Attend(on bool) {
	s.mu.Lock()
	changed := s.attend != on
	s.attend = on
	s.mu.Unlock()
	if changed {
		poke(s.run.changed)
	}
}

func (s *source) attended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attend
}
