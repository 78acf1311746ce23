package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/compat/cmux"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/ui/tmux"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Pushed requests hold conversations with the hub; half of those stay free for
// people.
const _ = uint(maxTalks - 2*queue.MaxPushed)

// newApprovals makes the service of approvals and gives it what it needs.
func (h *Hub) newApprovals() *approvals.Service {
	return approvals.New(approvals.Options{
		Deps: h.deps, Settings: h.selection, Recorder: ownEvents{h}, Sessions: h.sessions, FocusPane: focusPane,
		MayAnswer: h.mayAnswer, Stopping: h.stopping.Load, Context: h.ctx, Started: h.started,
	})
}

// mayAnswer reports whether the peer is somebody who could answer: a person
// sees everything they decide about; anybody else gets what the journal gets.
func (h *Hub) mayAnswer(peer proc.Cred) (bool, string) {
	verdict := h.judge.May(authority.Decide, peer, nil)
	return verdict.Seated(), verdict.Reason
}

func focusPane(ctx context.Context, one *wire.Session) (attached bool, err error) {
	done, err := (&tmux.Server{Socket: one.Server}).Focus(ctx, one.Pane, "")
	return done.Client != "", err
}

// ownEvents is the recorder as approvals sees it.
type ownEvents struct{ h *Hub }

// WakeJournal has what was recorded stored soon.
func (o ownEvents) WakeJournal() { o.h.recorder.Wake() }

// RecordOwn records an event of hookmux itself.
func (o ownEvents) RecordOwn(name, id string, at time.Time, payload any) {
	o.h.journal(name, id, at, payload)
}

// PastRequests reads what the journal knows of requests and grants since a
// moment, the newest first.
func (o ownEvents) PastRequests(ctx context.Context, since time.Time, limit int, each func(approvals.PastRequest)) error {
	select {
	case <-o.h.recorder.CaughtUp():
	case <-ctx.Done():
		return errors.New("the journal is still being filled")
	}
	for s, err := range o.h.recorder.Stored(ctx, journal.Filter{Since: since, Feed: true, Newest: true, Limit: limit}) {
		if err != nil {
			return err
		}
		var outcome wire.Outcome
		if s.Outcome == nil || json.Unmarshal(s.Outcome.Decision, &outcome) != nil {
			continue
		}
		each(approvals.PastRequest{
			ID: s.ID, Time: s.Time, By: s.Outcome.By, Outcome: outcome,
			Event: func() event.Event { return o.h.recorder.Rebuild(&s) },
		})
	}
	return nil
}

// journal notes something that hookmux itself has to tell.
func (h *Hub) journal(what, id string, at time.Time, payload any) {
	b, err := json.Marshal(payload)
	if err != nil {
		return
	}
	h.note(&arrival{id: id, agent: "hookmux", event: what, payload: b, at: at})
}

// askPerson lets a grant or a person decide where one must.
func (h *Hub) askPerson(ctx context.Context, in *arrival, p *passage) {
	p.takeOutcome(h.approvals.Decide(ctx, h.approvalCall(in, p)))
}

// approvalCall is what approvals must know of an arrival.
func (h *Hub) approvalCall(in *arrival, p *passage) *approvals.Call {
	c := &approvals.Call{
		Event: &p.ev, Decision: &p.outcome.Decision, Carries: p.carries, Project: p.project, Deadline: p.deadline,
		Pushed: in.pushed, Skipped: p.neutral, OnGone: in.gone, OnHeld: in.held, OnSent: in.then,
	}
	if in.dry != nil {
		c.Explain = in.dry.says
	}
	return c
}

func (p *passage) takeOutcome(o approvals.Outcome) { p.asked, p.neutral = o.Asked, o.Skipped }

// withdrawn: the hub stops, and half a decision is none. What a person said to
// be delivered is a whole one.
func (p *passage) withdrawn(ctx context.Context) bool {
	if p.asked == nil {
		return ctx.Err() != nil
	}
	return p.asked.End == queue.HubStops || ctx.Err() != nil && p.asked.End != queue.Answered
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

// Push takes an event from a program and lets hooks, grants and a person
// decide about it.
func (h *Hub) Push(ctx context.Context, pushed cmux.Pushed) cmux.PushResult {
	in := arrival{
		id: frame.NewID(), agent: pushed.Agent, event: pushed.Name, cwd: pushed.Cwd, payload: pushed.Payload,
		at: time.Now(), peer: pushed.Peer, limit: pushed.Wait, pushed: true,
	}
	in.gone = func(cancel func()) func() { return goneWith(ctx, cancel) }
	p := h.decode(&in)
	p.ev.Agent, p.ev.Session = pushed.Agent, pushed.Session // it says so itself, whoever pushes for it
	if p.ev.Cwd == "" {
		p.ev.Cwd = pushed.Cwd
	}
	need, asks := pushed.Prepare(&p.ev)
	h.take(&in, &p)
	h.apply(&in, &p)
	defer h.finish(&in)
	result := cmux.PushResult{ID: in.id}
	if pushed.Wait <= 0 || !asks {
		return result
	}
	p.carries = event.Carries{Allow: true, Deny: true}
	h.ask(ctx, &in, &p) // guards first
	if pushed.AfterHooks(&p.outcome.Decision) {
		p.takeOutcome(h.approvals.DecidePushed(ctx, h.approvalCall(&in, &p), need, pushed.Wait, pushed.Key))
	}
	if p.withdrawn(h.ctx) {
		result.Withdrawn = true
		return result
	}
	h.conclude(&in, &p, p.outcome.Decision)
	result.Decided, result.Decision = true, p.outcome.Decision
	result.Outcome = approvals.Outcome{Asked: p.asked, Skipped: p.neutral}
	return result
}

// serveFeedStream sends what waits, then every change, until the peer hangs up.
func (h *Hub) serveFeedStream(conn *net.UnixConn, id json.RawMessage, peer proc.Cred) {
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	stop := watchGone(conn, cancel)
	defer stop()
	h.approvals.Stream(ctx, id, peer, func(b []byte) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := conn.Write(b)
		return err == nil
	})
}

// Someone reports whether a person could answer a question now.
func (h *Hub) Someone() bool { return h.approvals.Someone() }

// Sink counts one more or one less way by which a person hears of requests who
// runs the hub inside their own program. The setting feed.push is the other.
func (h *Hub) Sink(more bool) {
	if more {
		h.approvals.AddSink(1)
	} else {
		h.approvals.AddSink(-1)
	}
}

// AskPerson puts a question of a hook to a person and gives their answer.
func (h *Hub) AskPerson(ctx context.Context, ev *event.Event, q queue.Question) (string, error) {
	return h.approvals.AskPerson(ctx, ev, q)
}

// ErrNobody says that nobody is there to answer.
var ErrNobody = approvals.ErrNobody

// ErrCancelled says that the person did not answer.
var ErrCancelled = approvals.ErrCancelled

const (
	callerLeft    = services.CallerLeft
	switchedOff   = services.SwitchedOff
	twinUndecided = services.TwinUndecided
)
