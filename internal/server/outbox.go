package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Outbox keeps texts for sessions whose agent takes them through our plugin. The plugin
// keeps one question open: is there anything for these sessions? Its next question says
// what it did with the last answer. Only then is a text delivered; until then it is handed
// out again, under the same id, to whichever plugin asks for its session.
type Outbox struct {
	deps    services.Deps
	agentOf AgentOf

	mu      sync.Mutex
	texts   []*queuedText
	pollers map[*poller]struct{}
}

// AgentOf is the agent that a process is or runs below, and the agent's own
// process; "" for none.
type AgentOf func(pid int) (agent string, agentPID int)

type queuedText struct {
	wire.OutboxText
	agent string
	done  chan wire.OutboxDone // one place: the plugin's word on it
}

type poller struct {
	agent    string
	name     string // which plugin asks; a newer question of the same one replaces this
	sessions []string
	wake     chan struct{}
	leave    context.CancelFunc
	// busy is until when a plugin that was handed texts counts as listening:
	// it puts them in and asks again.
	busy time.Time
}

// NewOutbox makes an empty outbox.
func NewOutbox(deps services.Deps, agentOf AgentOf) *Outbox {
	return &Outbox{deps: deps, agentOf: agentOf, pollers: map[*poller]struct{}{}}
}

const (
	// LongestWait is the longest a plugin's question stays open. It is less
	// than a quiet connection may last.
	LongestWait = 4 * time.Minute
	// confirmTime is how long a plugin may take to say that a text is in.
	confirmTime = 5 * time.Second
	// maxText is more than anybody writes to an agent at once.
	maxText     = 1 << 20
	maxSessions = 512 // sessions one plugin may ask for
)

// errUnconfirmed: the text may be in or not.
var errUnconfirmed = errors.New("the agent's plugin took the text and did not say that it is in; look at the " +
	"session before sending it again")

// Send puts text into a session of an agent through its plugin, as if the
// person had typed and sent it, and waits until the plugin has said what came of
// it. It is false without an error when no plugin listens for the session: there
// may be another way in.
func (o *Outbox) Send(ctx context.Context, agent, session, text string) (delivered bool, err error) {
	if len(text) > maxText {
		return false, errors.New("the text is too long: a megabyte is the most")
	}
	return o.sendWithin(ctx, o.deps.AgentName(agent), session, text, confirmTime)
}

// sendWithin waits until the plugin has said what came of it.
func (o *Outbox) sendWithin(ctx context.Context, agent, session, text string, patience time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, heard, err := o.Put(ctx, agent, wire.OutboxText{ID: frame.NewID(), Session: session, Text: text})
	switch {
	case !heard:
		return false, nil
	case err != nil:
		return false, errUnconfirmed
	case d.Error != "":
		return false, errors.New(agent + " did not take the text: " + d.Error)
	}
	return true, nil
}

// Put hands a text out until the plugin has said what came of it. It is false
// when no plugin listens for the session.
func (o *Outbox) Put(ctx context.Context, agent string, text wire.OutboxText,
) (done wire.OutboxDone, heard bool, err error) {
	t := &queuedText{OutboxText: text, agent: agent, done: make(chan wire.OutboxDone, 1)}
	o.mu.Lock()
	pollers := o.listeners(agent, text.Session)
	for _, p := range pollers {
		p.wakeUp()
	}
	if len(pollers) == 0 {
		o.mu.Unlock()
		return done, false, nil
	}
	o.texts = append(o.texts, t)
	o.mu.Unlock()
	defer o.withdrawText(t)
	select {
	case done = <-t.done:
		return done, true, nil
	case <-ctx.Done():
		return done, true, ctx.Err()
	}
}

// Listens reports whether a plugin would take a text for the session.
func (o *Outbox) Listens(agent, session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.listeners(agent, session)) > 0
}

// listeners returns the plugins that listen for a session.
func (o *Outbox) listeners(agent, session string) []*poller {
	var out []*poller
	for p := range o.pollers {
		switch {
		case !p.busy.IsZero() && time.Now().After(p.busy):
			delete(o.pollers, p)
		case p.agent == agent && slices.Contains(p.sessions, session):
			out = append(out, p)
		}
	}
	return out
}

func (o *Outbox) withdrawText(t *queuedText) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.texts = slices.DeleteFunc(o.texts, func(one *queuedText) bool { return one == t })
}

func (p *poller) serves(t *queuedText) bool {
	return p.agent == t.agent && slices.Contains(p.sessions, t.Session)
}

func (p *poller) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// confirm takes a plugin's word on texts it was given.
func (o *Outbox) confirm(agent string, done []wire.OutboxDone) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range done {
		for _, t := range o.texts {
			if t.ID == d.ID && t.agent == agent {
				select {
				case t.done <- d:
				default: // said twice
				}
			}
		}
		o.texts = slices.DeleteFunc(o.texts, func(t *queuedText) bool {
			return t.ID == d.ID && t.agent == agent
		})
	}
}

// poll waits until there is something for one of the sessions, or nothing
// came in time. A plugin asks once: its newer question takes the place of the
// older.
func (o *Outbox) poll(ctx context.Context, agent, name string, sessions []string) []wire.OutboxText {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	p := &poller{agent: agent, name: name, sessions: sessions, wake: make(chan struct{}, 1), leave: leave}
	o.mu.Lock()
	for old := range o.pollers {
		if name != "" && old.name == name && old.agent == agent {
			delete(o.pollers, old)
			old.leave()
		}
	}
	o.pollers[p] = struct{}{}
	o.mu.Unlock()
	for {
		if out := o.takeFor(p); out != nil {
			return out
		}
		select {
		case <-ctx.Done():
			o.mu.Lock()
			delete(o.pollers, p)
			o.mu.Unlock()
			return nil
		case <-p.wake:
		}
	}
}

// takeFor hands out what there is for a plugin; its question is then answered.
func (o *Outbox) takeFor(p *poller) []wire.OutboxText {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []wire.OutboxText
	for _, t := range o.texts {
		if p.serves(t) {
			out = append(out, t.OutboxText)
		}
	}
	if len(out) > 0 {
		if p.busy = time.Now().Add(confirmTime); p.name == "" {
			delete(o.pollers, p) // its next question could not be told to be its own
		}
	}
	return out
}

// Methods returns the methods of plugins.
func (o *Outbox) Methods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodOutbox: o.answerPoll}
}

// answerPoll answers a plugin's question. One that hung up is not waited for,
// and is not counted as listening.
func (o *Outbox) answerPoll(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.OutboxParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	a, ok := o.deps.Catalogue.Agent(p.Agent)
	if !ok || len(p.Sessions) == 0 || len(p.Sessions) > maxSessions {
		return nil, wire.Errorf(wire.CodeParams,
			"session.outbox needs the name of an agent and 1 to %d sessions", maxSessions)
	}
	switch caller, own := o.agentOf(peer.PID); {
	case caller != "" && caller != a.Name:
		// What is meant for one agent is nothing for another.
		return nil, wire.Errorf(wire.CodeRefused, "%s asks for what is meant for %s", caller, a.Name)
	case caller != "" && own != peer.PID:
		// The plugin runs inside the agent. What the agent's tools start would get
		// what is meant for the agent's other sessions.
		return nil, wire.Errorf(wire.CodeRefused,
			"texts for %s are handed to its own process %d, not to what it started", a.Name, own)
	}
	o.confirm(a.Name, p.Done)
	wait := time.Duration(p.Wait * float64(time.Second))
	if wait < 0 || wait > LongestWait {
		wait = LongestWait
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return wire.OutboxResult{Texts: o.poll(ctx, a.Name, p.Poller, p.Sessions)}, nil
}
