package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// outbox holds texts for sessions whose agent takes them through our plugin.
// The plugin keeps one question open: is there anything for these sessions? It
// says with its next question what it did with what it got. A text is
// delivered when the plugin said so, and not before: until then it is handed
// out again to whoever asks for its session, under the same id.
type outbox struct {
	mu      sync.Mutex
	texts   []*outboxText
	pollers map[*outboxPoller]struct{}
}

type outboxText struct {
	wire.OutboxText
	agent string
	done  chan wire.OutboxDone // one place: the plugin's word on it
}

type outboxPoller struct {
	agent    string
	name     string // which plugin asks; a newer question of the same one replaces this
	sessions []string
	wake     chan struct{}
	leave    context.CancelFunc
	// busy is until when a plugin that was handed texts counts as listening:
	// it puts them in and asks again.
	busy time.Time
}

func newOutbox() *outbox { return &outbox{pollers: map[*outboxPoller]struct{}{}} }

const (
	// outboxWait is the longest a plugin's question stays open. It is less
	// than a quiet connection may last.
	outboxWait = 4 * time.Minute
	// outboxConfirm is how long a plugin may take to say that a text is in.
	outboxConfirm = 5 * time.Second
	// maxOutboxText is more than anybody writes to an agent at once.
	maxOutboxText = 1 << 20
	maxOutboxList = 512 // sessions one plugin may ask for
)

// errUnconfirmed: the text may be in or not.
var errUnconfirmed = errors.New("the agent's plugin took the text and did not say that it is in; look at the session before sending it again")

// sendTo puts text into a session of an agent through its plugin, as if the
// person had typed and sent it. It is false without an error when no plugin
// listens for the session: there may be another way in.
func (h *Hub) sendTo(agent, session, text string) (delivered bool, err error) {
	if len(text) > maxOutboxText {
		return false, errors.New("the text is too long: a megabyte is the most")
	}
	if a, ok := h.deps.Catalogue.Agent(agent); ok {
		agent = a.Name
	}
	return h.outbox.send(h.ctx, agent, session, text, outboxConfirm)
}

// send waits until the plugin has said what came of it.
func (o *outbox) send(ctx context.Context, agent, session, text string, patience time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, heard, err := o.put(ctx, agent, wire.OutboxText{ID: frame.NewID(), Session: session, Text: text})
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

// put hands a text out until the plugin has said what came of it. It is false
// when no plugin listens for the session.
func (o *outbox) put(ctx context.Context, agent string, text wire.OutboxText) (done wire.OutboxDone, heard bool, err error) {
	t := &outboxText{OutboxText: text, agent: agent, done: make(chan wire.OutboxDone, 1)}
	o.mu.Lock()
	pollers := o.heard(agent, text.Session)
	for _, p := range pollers {
		p.rouse()
	}
	if len(pollers) == 0 {
		o.mu.Unlock()
		return done, false, nil
	}
	o.texts = append(o.texts, t)
	o.mu.Unlock()
	defer o.withdraw(t)
	select {
	case done = <-t.done:
		return done, true, nil
	case <-ctx.Done():
		return done, true, ctx.Err()
	}
}

// listens reports whether a plugin would take a text for the session.
func (o *outbox) listens(agent, session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.heard(agent, session)) > 0
}

// heard are the plugins that listen for a session.
func (o *outbox) heard(agent, session string) []*outboxPoller {
	var out []*outboxPoller
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

func (o *outbox) withdraw(t *outboxText) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.texts = slices.DeleteFunc(o.texts, func(one *outboxText) bool { return one == t })
}

func (p *outboxPoller) serves(t *outboxText) bool {
	return p.agent == t.agent && slices.Contains(p.sessions, t.Session)
}

func (p *outboxPoller) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// confirm takes a plugin's word on texts it was given.
func (o *outbox) confirm(agent string, done []wire.OutboxDone) {
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
		o.texts = slices.DeleteFunc(o.texts, func(t *outboxText) bool { return t.ID == d.ID && t.agent == agent })
	}
}

// poll waits until there is something for one of the sessions, or nothing
// came in time. A plugin asks once: its newer question takes the place of the
// older.
func (o *outbox) poll(ctx context.Context, agent, name string, sessions []string) []wire.OutboxText {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	p := &outboxPoller{agent: agent, name: name, sessions: sessions, wake: make(chan struct{}, 1), leave: leave}
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
func (o *outbox) takeFor(p *outboxPoller) []wire.OutboxText {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []wire.OutboxText
	for _, t := range o.texts {
		if p.serves(t) {
			out = append(out, t.OutboxText)
		}
	}
	if len(out) > 0 {
		if p.busy = time.Now().Add(outboxConfirm); p.name == "" {
			delete(o.pollers, p) // its next question could not be told to be its own
		}
	}
	return out
}

// doOutbox answers a plugin's question.
func (h *Hub) doOutbox(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	return h.pollOutbox(h.ctx, params, peer)
}

func (h *Hub) pollOutbox(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.OutboxParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	a, ok := h.deps.Catalogue.Agent(p.Agent)
	if !ok || len(p.Sessions) == 0 || len(p.Sessions) > maxOutboxList {
		return nil, wire.Errorf(wire.CodeParams, "session.outbox needs the name of an agent and 1 to %d sessions", maxOutboxList)
	}
	if who := h.callers.of(peer.PID); who.agent != "" && who.agent != a.Name {
		// What is meant for one agent is nothing for another.
		return nil, wire.Errorf(wire.CodeRefused, "%s asks for what is meant for %s", who.agent, a.Name)
	}
	h.outbox.confirm(a.Name, p.Done)
	wait := time.Duration(p.Wait * float64(time.Second))
	if wait < 0 || wait > outboxWait {
		wait = outboxWait
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return wire.OutboxResult{Texts: h.outbox.poll(ctx, a.Name, p.Poller, p.Sessions)}, nil
}
