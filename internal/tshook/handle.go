package tshook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// piDialect is pi's own dialect: its events need no translation.
const piDialect = "pi"

// closingTime is how long before an event's deadline open dialogs are closed, so
// that the handler can still answer. A short deadline keeps a quarter of its time.
const closingTime = 1200 * time.Millisecond

// Prompt says that Handle returns when its context ends.
func (m *Hook) Prompt() {}

// Handle passes an event to the file's handlers and returns their decision. It returns an
// error if a tool_call handler throws, if a limit was hit and if the file doesn't load.
func (m *Hook) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	began := time.Now()
	ev := call.Event
	leave, err := m.enterSession(ctx, ev)
	if err != nil {
		return event.Decision{}, err
	}
	defer leave()
	s := m.gatherSubject(ev)
	s.applyEarlierResults(call.Extra)
	events, outcomes, err := m.runEvent(ctx, call, s)
	m.countRun(time.Since(began), len(events) > 0)
	if err != nil {
		return event.Decision{}, err
	}
	d, notes, err := m.mergeOutcomes(s, events, outcomes)
	for _, note := range notes {
		m.noteLimit(ev.Agent, note)
	}
	if err != nil {
		return event.Decision{}, m.nameFile(err)
	}
	if s.question != "" { // what it said without an answer is not what it would have said
		return event.Decision{Verdict: event.Ask, Reason: s.question}, nil
	}
	return d, nil
}

// runEvent passes the event to the engine, and to a new engine if that one ended before it
// ran the event.
func (m *Hook) runEvent(ctx context.Context, call *hook.Call, s *subject) (events []presentedEvent,
	outcomes []*outcome, err error) {
	m.mu.Lock()
	index, results := s.memory.index, s.memory.results
	m.mu.Unlock()
	for range 3 {
		var g *loadedCode
		if g, err = m.acquireLoading(ctx); err != nil {
			return nil, nil, err
		}
		m.mu.Lock() // what is remembered of the session
		events, err = g.presenter.presentEvent(s)
		m.mu.Unlock()
		if err == nil && (len(events) > 0 || s.ev.Kind == event.SessionEnd) {
			outcomes, err = m.askRunner(ctx, g, call, s, events)
		}
		g.busy.Done()
		if !errors.Is(err, engine.ErrNotRun) {
			break
		}
		m.mu.Lock()
		s.memory.index, s.memory.results = index, results
		m.mu.Unlock()
	}
	return events, outcomes, err
}

// nameFile puts the file's name before an error.
func (m *Hook) nameFile(err error) error {
	var js *engine.JSError
	if errors.As(err, &js) {
		return fmt.Errorf("%s: %s", filepath.Base(m.path), oneLine(js.Error()))
	}
	return fmt.Errorf("%s: %w", filepath.Base(m.path), err)
}

// askRunner sends events to the engine and waits for its answer.
func (m *Hook) askRunner(ctx context.Context, g *loadedCode, call *hook.Call, s *subject,
	events []presentedEvent) ([]*outcome, error) {
	var kind, text string
	if canUseShortForm(g, s, events) {
		kind, text = "call", m.shortForm(s, &events[0])
	} else {
		kind, text = "event", m.fullRequest(g, s, events)
	}
	end, hasEnd := ctx.Deadline()
	open, cancel := context.WithCancel(ctx)
	defer cancel()
	var until time.Time
	if hasEnd {
		left := time.Until(end)
		until = end.Add(-min(closingTime, left/4))
	}
	pending := &pendingEvent{call: call, ctx: open, cancel: cancel, until: until}
	id, answer := g.runner.Ask(kind, text, func(id int) {
		g.mu.Lock()
		g.asked[id] = pending
		g.mu.Unlock()
	})
	defer func() {
		g.mu.Lock()
		delete(g.asked, id)
		s.question = pending.question
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
				return nil, m.reportDrop(firstName(events), o.Err)
			}
			var outcomes []*outcome
			if len(o.Value) == 0 || string(o.Value) == "null" { // no handler returned anything
				return nil, nil
			}
			if err := json.Unmarshal(o.Value, &outcomes); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(m.path), err)
			}
			return outcomes, nil
		case <-soon:
			soon = nil
			cancel() // every open dialog is cancelled
			g.runner.Post("expire", id, "")
		case <-ctx.Done():
			g.runner.Forget(id)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) { // otherwise the caller is gone or the daemon ends
				m.reportOnce(&Problem{Hook: m.path, Event: firstName(events), Text: errNoAnswer.Error()})
			}
			return nil, fmt.Errorf("%s: %w", filepath.Base(m.path), errNoAnswer)
		}
	}
}

// fullRequest returns the long form of a request, which fits all events.
func (m *Hook) fullRequest(g *loadedCode, s *subject, events []presentedEvent) string {
	fields := make([]pi.Object, len(events))
	for i := range events {
		fields[i] = events[i].fields
	}
	asking := request{
		Events: fields,
		Ctx:    m.contextFields(s),
		Native: nativeJSON(s.ev),
		Ends:   s.ev.Kind == event.SessionEnd,
	}
	if side, ok := g.runner.(*sidecar); ok && !frequentEvents[firstName(events)] {
		// Node cannot ask for them synchronously
		asking.Ctx.Entries = side.owner.Entries(sessionKey(s.ev.Agent, s.ev.Session))
	}
	return string(pi.Encode(asking))
}

func firstName(events []presentedEvent) string {
	if len(events) == 0 {
		return ""
	}
	return events[0].name
}

// reportDrop reports a limit that ended the engine, and puts the file's name before
// the error.
func (m *Hook) reportDrop(event string, err error) error {
	var slice engine.SliceError
	if errors.As(err, &slice) || errors.Is(err, engine.ErrMemory) {
		m.reportOnce(&Problem{Hook: m.path, Event: event, Text: err.Error()})
	}
	return m.nameFile(err)
}

// gatherSubject collects what is known about an event and updates the session's
// memory.
func (m *Hook) gatherSubject(ev *event.Event) *subject {
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
			s.noteInnerEvents(raw, a.Inner)
		}
	}
	s.memory = m.rememberEvent(ev, s.pi)
	return s
}

// maxEntries limits what is remembered of a session.
const maxEntries = 200

func (m *Hook) rememberEvent(ev *event.Event, fromPi bool) *sessionMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := sessionKey(ev.Agent, ev.Session)
	t := m.memories[key]
	if t == nil {
		if len(m.memories) >= m.engine.host.Limits.Sessions {
			oldest := ""
			for k, other := range m.memories {
				if oldest == "" || other.used.Before(m.memories[oldest].used) {
					oldest = k
				}
			}
			delete(m.memories, oldest)
		}
		t = &sessionMemory{}
		m.memories[key] = t
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
		message = userMessage(ev)
	case ev.Kind == event.TurnEnd && ev.Message != "":
		message = assistantMessage(ev)
	}
	if message != nil {
		id := fmt.Sprintf("%08x", len(t.entries)+1)
		t.entries = append(t.entries, pi.Object{"type": "message", "id": id,
			"timestamp": ev.Time.UTC().Format(time.RFC3339), "message": message})
		if len(t.entries) > maxEntries {
			t.entries = t.entries[len(t.entries)-maxEntries:]
		}
	}
	return t
}

// request is sent to an engine for an event.
type request struct {
	Events []pi.Object `json:"events"`
	Ctx    contextInfo `json:"ctx"`
	Native string      `json:"native"` // JSON
	Ends   bool        `json:"ends,omitempty"`
}

// contextInfo holds the values of a handler's second argument.
type contextInfo struct {
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
	// The fields below come from pi only: its model, all its models, how full
	// its context is, its system prompt.
	PiModel any    `json:"piModel,omitempty"`
	Models  any    `json:"models,omitempty"`
	Usage   any    `json:"usage,omitempty"`
	Prompt  string `json:"prompt,omitempty"`
}

func (m *Hook) contextFields(s *subject) contextInfo {
	ev := s.ev
	canAnswer := m.engine.host.Asker != nil && m.engine.host.Asker.CanAnyoneAnswer(ev)
	mode := "print"
	if canAnswer {
		mode = "tui"
	}
	if own := asString(s.ctx["mode"]); own != "" {
		mode = own
	}
	idle := ev.Kind == event.TurnEnd || ev.Kind == event.SessionStart || ev.Kind == event.SessionEnd
	if own, ok := s.ctx["idle"].(bool); ok {
		idle = own
	}
	return contextInfo{
		Key: sessionKey(ev.Agent, ev.Session), Agent: ev.Agent, Session: ev.Session, Cwd: ev.Cwd, Pi: s.pi,
		HasUI: canAnswer, Mode: mode,
		SessionFile: ev.Transcript, Title: ev.Title, Model: ev.Model,
		Idle: idle, Headless: ev.Attended == event.AttendedNo,
		PiModel: s.ctx["model"], Models: s.ctx["models"], Usage: s.ctx["usage"],
		Prompt: asString(s.ctx["systemPrompt"]),
	}
}

func (m *Hook) countRun(took time.Duration, ran bool) {
	if !ran {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info.Runs++
	m.info.Total += toMilliseconds(took)
	m.info.Longest = max(m.info.Longest, toMilliseconds(took))
}

func (m *Hook) forgetSession(key string) {
	m.mu.Lock()
	delete(m.memories, key)
	g := m.current
	m.mu.Unlock()
	if g != nil {
		g.runner.Post("drop", 0, string(pi.Encode(key)))
	}
}

// sessionQueue keeps the events of one session in order.
type sessionQueue struct {
	turn    chan struct{}
	waiting int
}

// enterSession waits until earlier events of the same session are answered. A subagent works
// alongside its parent, so its events have a queue of their own.
func (m *Hook) enterSession(ctx context.Context, ev *event.Event) (leave func(), err error) {
	key := sessionKey(ev.Agent, ev.Session)
	if ev.Subagent != nil {
		key += "\x00" + ev.Subagent.ID
	}
	return m.enterQueue(ctx, key)
}

func (m *Hook) enterQueue(ctx context.Context, key string) (leave func(), err error) {
	m.mu.Lock()
	l := m.queues[key]
	if l == nil {
		l = &sessionQueue{turn: make(chan struct{}, 1)}
		m.queues[key] = l
	}
	l.waiting++
	m.mu.Unlock()
	gone := func() {
		m.mu.Lock()
		if l.waiting--; l.waiting == 0 {
			delete(m.queues, key)
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
