package tsmodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tsmodule/engine"
	"github.com/hookmux/hookmux/internal/tsmodule/pi"
)

// piDialect is spoken by pi itself: its events need no translation.
const piDialect = "pi"

// lastWord is how long before the end of an event's time open dialogs are
// closed, so that a handler can still say what it makes of that; of a short
// time it is a quarter.
const lastWord = 1200 * time.Millisecond

// Prompt: nothing a file does keeps its events from ending in time.
func (m *Module) Prompt() {}

// Handle shows an event to the file's handlers and gives what they make of it.
// A handler that throws at tool_call, a limit that was hit and a file that
// does not load are errors.
func (m *Module) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	began := time.Now()
	ev := call.Event
	leave, err := m.enter(ctx, ev)
	if err != nil {
		return event.Decision{}, err
	}
	defer leave()
	s := m.subject(ev)
	s.after(call.Extra)
	events, outcomes, err := m.put(ctx, call, s)
	m.count(time.Since(began), len(events) > 0)
	if err != nil {
		return event.Decision{}, err
	}
	d, notes, err := m.judge(s, events, outcomes)
	for _, note := range notes {
		m.note(ev.Agent, note)
	}
	if err != nil {
		return event.Decision{}, m.failed(err)
	}
	return d, nil
}

// put shows the event to an engine: to the next one when the first ended
// before it looked.
func (m *Module) put(ctx context.Context, call *hook.Call, s *subject) (events []shown, outcomes []*said, err error) {
	m.mu.Lock()
	index, results := s.turn.index, s.turn.results
	m.mu.Unlock()
	for range 3 {
		var g *generation
		if g, err = m.ready(ctx); err != nil {
			return nil, nil, err
		}
		m.mu.Lock() // what is remembered of the session
		events, err = g.presenter.present(s)
		m.mu.Unlock()
		if err == nil && (len(events) > 0 || s.ev.Kind == event.SessionEnd) {
			outcomes, err = m.run(ctx, g, call, s, events)
		}
		g.busy.Done()
		if !errors.Is(err, engine.ErrNotRun) {
			break
		}
		m.mu.Lock()
		s.turn.index, s.turn.results = index, results
		m.mu.Unlock()
	}
	return events, outcomes, err
}

// failed gives a handler's exception the name of its file.
func (m *Module) failed(err error) error {
	var js *engine.JSError
	if errors.As(err, &js) {
		return fmt.Errorf("%s: %s", filepath.Base(m.path), oneLine(js.Error()))
	}
	return fmt.Errorf("%s: %w", filepath.Base(m.path), err)
}

// run puts events to the engine and waits.
func (m *Module) run(ctx context.Context, g *generation, call *hook.Call, s *subject, events []shown) ([]*said, error) {
	kind, text := "call", ""
	if quick(g, s, events) {
		text = m.shortForm(s, &events[0])
	} else {
		kind, text = "event", m.requested(g, s, events)
	}
	end, hasEnd := ctx.Deadline()
	open, cancel := context.WithCancel(ctx)
	defer cancel()
	var until time.Time
	if hasEnd {
		left := time.Until(end)
		until = end.Add(-min(lastWord, left/4))
	}
	id, answer := g.runner.Ask(kind, text, func(id int) {
		g.mu.Lock()
		g.asked[id] = &asked{call: call, ctx: open, cancel: cancel, until: until}
		g.mu.Unlock()
	})
	defer func() {
		g.mu.Lock()
		delete(g.asked, id)
		g.mu.Unlock()
	}()
	var soon <-chan time.Time
	if hasEnd {
		timer := time.NewTimer(max(time.Until(until), 0))
		defer timer.Stop()
		soon = timer.C
	}
	for {
		select {
		case o := <-answer:
			if o.Err != nil {
				return nil, m.dropped(events0(events), o.Err)
			}
			var outcomes []*said
			if len(o.Value) == 0 || string(o.Value) == "null" { // nobody had anything to say
				return nil, nil
			}
			if err := json.Unmarshal(o.Value, &outcomes); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(m.path), err)
			}
			return outcomes, nil
		case <-soon:
			soon = nil
			cancel() // every open dialog is cancelled
			g.runner.Tell("expire", id, "")
		case <-ctx.Done():
			g.runner.Forget(id)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) { // else nobody waits any more, or the hub ends: not the file's fault
				m.trouble(&Problem{Module: m.path, Event: events0(events), Text: errNoAnswer.Error()})
			}
			return nil, fmt.Errorf("%s: %w", filepath.Base(m.path), errNoAnswer)
		}
	}
}

// requested is events in the form that suits all of them.
func (m *Module) requested(g *generation, s *subject, events []shown) string {
	fields := make([]pi.Object, len(events))
	for i := range events {
		fields[i] = events[i].fields
	}
	asking := request{Events: fields, Ctx: m.context(s), Native: ownWords(s.ev), Ends: s.ev.Kind == event.SessionEnd}
	if side, ok := g.runner.(*sidecar); ok && !often[events0(events)] {
		asking.Ctx.Entries = side.voice.Entries(sessionKey(s.ev.Agent, s.ev.Session)) // Node cannot stand still to ask
	}
	return string(pi.Encode(asking))
}

func events0(events []shown) string {
	if len(events) == 0 {
		return ""
	}
	return events[0].name
}

// dropped reports an engine's end, and puts the file's name before any error.
func (m *Module) dropped(event string, err error) error {
	var slice engine.SliceError
	if errors.As(err, &slice) || errors.Is(err, engine.ErrMemory) {
		m.trouble(&Problem{Module: m.path, Event: event, Text: err.Error()})
	}
	return m.failed(err)
}

// subject gathers what is known around an event, and remembers what was said.
func (m *Module) subject(ev *event.Event) *subject {
	s := &subject{ev: ev}
	if a, ok := m.engine.host.Catalogue.Agent(ev.Agent); ok && a.Dialect == piDialect {
		s.pi = true
		s.spoken = map[string]bool{}
		for _, spec := range a.Events {
			if spec.Install != "never" {
				s.spoken[spec.Name] = true
			}
		}
		if raw := pi.ParseObject(ev.Raw); raw != nil {
			s.own, _ = raw["event"].(pi.Object)
			s.ctx, _ = raw["ctx"].(pi.Object)
			s.passes(raw, a.Inner)
		}
	}
	s.turn = m.remember(ev, s.pi)
	return s
}

// maxEntries bounds what is remembered of a session.
const maxEntries = 200

func (m *Module) remember(ev *event.Event, fromPi bool) *turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := sessionKey(ev.Agent, ev.Session)
	t := m.turns[key]
	if t == nil {
		if len(m.turns) >= m.engine.host.Limits.Sessions {
			oldest := ""
			for k, other := range m.turns {
				if oldest == "" || other.used.Before(m.turns[oldest].used) {
					oldest = k
				}
			}
			delete(m.turns, oldest)
		}
		t = &turn{}
		m.turns[key] = t
	}
	t.used, t.headless = time.Now(), ev.Attended == event.AttendedNo
	if fromPi && ev.Transcript != "" {
		t.record = ev.Transcript
	}
	if ev.Kind == event.TurnStart {
		t.index, t.results = 0, false
	}
	var message pi.Object
	switch {
	case ev.Kind == event.TurnStart && ev.Prompt != "":
		message = user(ev)
	case ev.Kind == event.TurnEnd && ev.Message != "":
		message = assistant(ev)
	}
	if message != nil {
		id := fmt.Sprintf("%08x", len(t.entries)+1)
		t.entries = append(t.entries, pi.Object{"type": "message", "id": id, "timestamp": ev.Time.UTC().Format(time.RFC3339), "message": message})
		if len(t.entries) > maxEntries {
			t.entries = t.entries[len(t.entries)-maxEntries:]
		}
	}
	return t
}

// request is an event on its way into an engine.
type request struct {
	Events []pi.Object `json:"events"`
	Ctx    about       `json:"ctx"`
	Native string      `json:"native"` // JSON
	Ends   bool        `json:"ends,omitempty"`
}

// about is what a handler reads off its second argument.
type about struct {
	Key         string `json:"key"`
	Agent       string `json:"agent"`
	Session     string `json:"session"`
	Cwd         string `json:"cwd"`
	Pi          bool   `json:"pi"`
	HasUI       bool   `json:"hasUI"`
	Mode        string `json:"mode"`
	SessionFile string `json:"sessionFile,omitempty"`
	Title       string `json:"title,omitempty"`
	Model       string `json:"model,omitempty"`
	Idle        bool   `json:"idle"`
	Headless    bool   `json:"headless"`
	Entries     any    `json:"entries,omitempty"`
	// What only pi tells: its model, all it has, how full its context is, and
	// its system prompt.
	PiModel any    `json:"piModel,omitempty"`
	Models  any    `json:"models,omitempty"`
	Usage   any    `json:"usage,omitempty"`
	Prompt  string `json:"prompt,omitempty"`
}

func (m *Module) context(s *subject) about {
	ev := s.ev
	someone := m.engine.host.Asker != nil && m.engine.host.Asker.Someone(ev)
	mode := "print"
	if someone {
		mode = "tui"
	}
	if own := str(s.ctx["mode"]); own != "" {
		mode = own
	}
	idle := ev.Kind == event.TurnEnd || ev.Kind == event.SessionStart || ev.Kind == event.SessionEnd
	if own, ok := s.ctx["idle"].(bool); ok {
		idle = own
	}
	return about{
		Key: sessionKey(ev.Agent, ev.Session), Agent: ev.Agent, Session: ev.Session, Cwd: ev.Cwd, Pi: s.pi, HasUI: someone, Mode: mode, SessionFile: ev.Transcript, Title: ev.Title, Model: ev.Model,
		Idle: idle, Headless: ev.Attended == event.AttendedNo,
		PiModel: s.ctx["model"], Models: s.ctx["models"], Usage: s.ctx["usage"], Prompt: str(s.ctx["systemPrompt"]),
	}
}

func (m *Module) count(took time.Duration, ran bool) {
	if !ran {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info.Runs++
	m.info.Total += millis(took)
	m.info.Longest = max(m.info.Longest, millis(took))
}

func (m *Module) forget(key string) {
	m.mu.Lock()
	delete(m.turns, key)
	g := m.now
	m.mu.Unlock()
	if g != nil {
		g.runner.Tell("drop", 0, string(pi.Encode(key)))
	}
}

// line keeps the events of one session in order.
type line struct {
	turn    chan struct{}
	waiting int
}

// enter waits until the events before this one, of the same session, are
// answered. A subagent's are a line of their own: it works beside its parent.
func (m *Module) enter(ctx context.Context, ev *event.Event) (leave func(), err error) {
	key := sessionKey(ev.Agent, ev.Session)
	if ev.Subagent != nil {
		key += "\x00" + ev.Subagent.ID
	}
	return m.enterLine(ctx, key)
}

func (m *Module) enterLine(ctx context.Context, key string) (leave func(), err error) {
	m.mu.Lock()
	l := m.lines[key]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		m.lines[key] = l
	}
	l.waiting++
	m.mu.Unlock()
	gone := func() {
		m.mu.Lock()
		if l.waiting--; l.waiting == 0 {
			delete(m.lines, key)
		}
		m.mu.Unlock()
	}
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			gone()
		}, nil
	case <-ctx.Done():
		gone()
		return nil, fmt.Errorf("%s: an earlier event of the same session is not answered yet", filepath.Base(m.path))
	}
}
