package hub

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/module"
	"github.com/hookmux/hookmux/internal/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// dialogs shows what hooks ask at the agent itself, where its plugin can: the
// person who sits there need not look elsewhere. The feed asks at the same
// time; whoever answers first counts, and the other place closes.
//
// The answer comes with a token that only the process was told which sent the
// event, and from that process: an agent's own commands cannot answer for the
// person.
type dialogs struct {
	mu      sync.Mutex
	doors   map[string]*door   // by the id of an event under way
	waiting map[string]*dialog // by token
}

type door struct {
	id    string
	pid   int
	write func([]byte)

	mu   sync.Mutex
	last int
}

type dialog struct {
	pid    int
	answer chan module.Answer
}

// open lets hooks that look at an event ask its caller, until it is closed.
func (d *dialogs) open(id string, peer proc.Cred, write func([]byte)) (closed func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.doors == nil {
		d.doors, d.waiting = map[string]*door{}, map[string]*dialog{}
	}
	one := &door{id: id, pid: peer.PID, write: write}
	d.doors[id] = one
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.doors[id] == one {
			delete(d.doors, id)
		}
	}
}

func (d *dialogs) of(ev *event.Event) *door {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.doors[ev.ID]
}

// ask puts a question to whoever can be asked.
func (d *dialogs) ask(ctx context.Context, a asker, q module.Question) (module.Answer, error) {
	here := d.of(q.Event)
	if here == nil {
		return a.elsewhere(ctx, q)
	}
	if !a.h.Someone() {
		return d.show(ctx, here, q)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type said struct {
		answer module.Answer
		err    error
	}
	answers := make(chan said, 2)
	go func() {
		answer, err := d.show(ctx, here, q)
		answers <- said{answer, err}
	}()
	// What is let go in the feed is still open here; what is refused there is
	// refused.
	go func() {
		answer, err := a.elsewhere(ctx, q)
		if err != nil && !errors.Is(err, errRefused) {
			<-ctx.Done()
		}
		answers <- said{answer, err}
	}()
	first := <-answers
	return first.answer, first.err
}

// show shows a dialog at the agent and waits for its answer.
func (d *dialogs) show(ctx context.Context, at *door, q module.Question) (module.Answer, error) {
	at.mu.Lock()
	at.last++
	line := wire.DialogLine{ID: at.id, Dialog: at.last, Token: frame.NewID(), Kind: string(q.Kind), Title: q.Title, Text: q.Text, Options: q.Options, Placeholder: q.Placeholder}
	at.mu.Unlock()
	one := &dialog{pid: at.pid, answer: make(chan module.Answer, 1)}
	d.mu.Lock()
	d.waiting[line.Token] = one
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.waiting, line.Token)
		d.mu.Unlock()
	}()
	at.say(line)
	select {
	case answer := <-one.answer:
		return answer, nil
	case <-ctx.Done():
		at.say(wire.DialogLine{ID: at.id, Close: line.Dialog})
		return module.Answer{Cancelled: true}, ctx.Err()
	}
}

func (at *door) say(line wire.DialogLine) {
	if b, err := json.Marshal(line); err == nil {
		at.write(append(b, '\n'))
	}
}

// doAnswer takes the answer of the person at the agent.
func (h *Hub) doAnswer(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.AnswerParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	d := &h.dialogs
	d.mu.Lock()
	one := d.waiting[p.Token]
	d.mu.Unlock()
	if one == nil {
		return nil, wire.Errorf(wire.CodeParams, "no dialog waits for this answer any more")
	}
	if one.pid != peer.PID {
		return nil, wire.Errorf(wire.CodeRefused, "only the agent that shows a dialog may answer it")
	}
	select {
	case one.answer <- module.Answer{Cancelled: p.Cancelled, Confirmed: p.Confirmed, Value: p.Value, By: "person"}:
	default: // said twice
	}
	return struct{}{}, nil
}
