package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/tsmodule"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// asker lets files ask a person through the feed.
type asker struct{ h *Hub }

var kindOfQuestion = map[tsmodule.QuestionKind]queue.QuestionKind{
	tsmodule.Select: queue.Select, tsmodule.Confirm: queue.Confirm, tsmodule.Input: queue.Input, tsmodule.Editor: queue.Input,
}

func (a asker) Ask(ctx context.Context, q tsmodule.Question) (tsmodule.Answer, error) {
	words, err := a.h.askPerson(ctx, q.Event, queue.Question{
		By: a.h.modules.idOf(q.Module), Kind: kindOfQuestion[q.Kind], Title: q.Title, Text: q.Text, Options: q.Options, Placeholder: q.Placeholder,
	})
	if err != nil {
		return tsmodule.Answer{Cancelled: true}, err
	}
	return tsmodule.Answer{Confirmed: words == "yes", Value: words, By: "person"}, nil
}

func (a asker) Someone(*event.Event) bool { return a.h.Someone() }

func (a asker) Notify(n tsmodule.Notice) {
	a.h.sayOf(n.Module, n.Text)
}

// sayOf shows people who watch what a file says.
func (h *Hub) sayOf(path, text string) {
	text = redact.Text(h.modules.shown(path, text))
	id := h.modules.idOf(path)
	h.deps.Log.Info("trace", "hook", id, "text", text)
	h.streams.Publish(wire.NoteTrace, wire.Trace{Hook: id, Text: text})
}

// sender brings a file's words into a session: through the agent's plugin, or
// with the session's next event.
type sender struct{ h *Hub }

func (s sender) Send(_ context.Context, m tsmodule.Message) (bool, error) {
	delivered := false
	var err error
	// What shall start no turn must not come as if the person had typed it.
	if m.Turn || m.Deliver != "" && m.Deliver != "nextTurn" {
		delivered, err = s.h.sendTo(m.Agent, m.Session, m.Text)
	}
	if err == nil && !delivered {
		s.h.modules.queued.Store(sessionKey{m.Agent, m.Session}, true)
	}
	return delivered, err
}

// models lets a file use the models of the agent it looks at, inside that
// agent: no provider's key enters the hub.
type models struct{ h *Hub }

func (m models) Complete(ctx context.Context, ev *event.Event, call json.RawMessage) (json.RawMessage, error) {
	done, heard, err := m.h.outbox.put(ctx, ev.Agent, wire.OutboxText{ID: frame.NewID(), Session: ev.Session, Call: call})
	switch {
	case !heard:
		return nil, tsmodule.Unheard(errors.New("complete: hookmux's extension does not listen in this session, so its models cannot be used (pi in a terminal or RPC mode, hookmux's extension of this version)"))
	case err != nil:
		return nil, errors.New("complete: the model gave no answer in time")
	case done.Error != "":
		return nil, errors.New("complete: " + done.Error)
	case len(done.Result) == 0:
		return nil, errors.New("complete: the extension in the agent is older than hookmux; `hookmux install` renews it")
	}
	return done.Result, nil
}

// queuedEntry is the hook that gives a session the words waiting for it; nil
// when there are none, which is nearly always.
func (ms *modules) queuedEntry(p *passage) *hook.Entry {
	key := sessionKey{p.ev.Agent, p.ev.Session}
	if !p.carries.Context {
		return nil
	}
	if _, waits := ms.queued.Load(key); !waits {
		return nil
	}
	ms.mu.Lock()
	engine := ms.engine
	ms.mu.Unlock()
	if engine == nil {
		return nil
	}
	e, err := hook.NewEntry(hook.Registration{ID: "module.send", Agent: hook.Any, HookType: hook.Any, Handler: "module", Target: "send", Mode: hook.Advise},
		hook.HandlerFunc(func(ctx context.Context, call *hook.Call) (event.Decision, error) {
			ms.queued.Delete(key)
			return engine.Queued().Handle(ctx, call)
		}), "builtin")
	if err != nil {
		return nil
	}
	e.Inline = true
	return e
}

// moduleRecorder writes down what files do.
type moduleRecorder struct{ h *Hub }

func problemKey(path string) string { return "module:" + path + ":" }

func (r moduleRecorder) Did(d tsmodule.Deed) { r.h.modules.deeds.add(d) }

// Problem shows a file's failure, until the file changes.
func (r moduleRecorder) Problem(p tsmodule.Problem) {
	text := r.h.modules.shown(p.Module, p.Error())
	if p.Event != "" {
		text += " (at " + p.Event + ")"
	}
	r.h.deps.Problems.Raise(problemKey(p.Module)+p.Event+":"+p.Where+":"+p.Text, text, "correct the file; it is loaded anew when it changes (`hookmux module list`)")
}

func (r moduleRecorder) Said(path, level, text string) {
	if level != "log" && level != "info" && level != "" {
		text = level + ": " + text
	}
	r.h.sayOf(path, text)
}

// deeds writes down what files did, behind their backs: a file must not wait
// for a disk, and one that does the same a thousand times a second is written
// down as one that did it a thousand times.
type deeds struct {
	hub  *Hub
	in   chan tsmodule.Deed
	end  chan struct{}
	over chan struct{}
	once sync.Once

	mu   sync.Mutex
	lost int
}

const (
	maxDeeds = 1024
	// gatherDeeds is how long equal deeds are counted before they are written.
	gatherDeeds = 500 * time.Millisecond
)

func newDeeds(h *Hub) *deeds {
	return &deeds{hub: h, in: make(chan tsmodule.Deed, maxDeeds), end: make(chan struct{}), over: make(chan struct{})}
}

func (d *deeds) add(one tsmodule.Deed) {
	d.once.Do(func() { go d.run() })
	select {
	case d.in <- one:
	default:
		d.mu.Lock()
		d.lost++
		d.mu.Unlock()
	}
}

func (d *deeds) close() {
	started := true
	d.once.Do(func() { started = false })
	close(d.end)
	if started {
		<-d.over
	}
}

func (d *deeds) run() {
	defer close(d.over)
	count := map[tsmodule.Deed]int{}
	var order []tsmodule.Deed
	write := func() {
		for _, one := range order {
			d.write(one, count[one])
		}
		clear(count)
		order = order[:0]
		d.mu.Lock()
		lost := d.lost
		d.lost = 0
		d.mu.Unlock()
		if lost > 0 {
			d.write(tsmodule.Deed{Action: "more", Detail: fmt.Sprintf("%d actions came too fast to be written down one by one", lost)}, lost)
		}
	}
	take := func(one tsmodule.Deed) {
		if count[one] == 0 {
			order = append(order, one)
		}
		count[one]++
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case one := <-d.in:
			if len(order) == 0 {
				timer.Reset(gatherDeeds)
			}
			take(one)
			if len(order) >= maxDeeds {
				write()
			}
		case <-timer.C:
			write()
		case <-d.end:
			for {
				select {
				case one := <-d.in:
					take(one)
					continue
				default:
				}
				break
			}
			write()
			return
		}
	}
}

// write puts a deed into the journal, as an event of hookmux's own.
func (d *deeds) write(one tsmodule.Deed, times int) {
	h := d.hub
	said := map[string]any{"hook": h.modules.idOf(one.Module), "module": h.modules.shown(one.Module, one.Module), "action": one.Action, "detail": h.modules.shown(one.Module, one.Detail)}
	for key, value := range map[string]string{"agent": one.Agent, "session": one.Session, "error": one.Err} {
		if value != "" {
			said[key] = value
		}
	}
	if times > 1 {
		said["times"] = times
	}
	h.journal("module", frame.NewID(), time.Now(), said)
}
