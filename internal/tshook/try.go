package tshook

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// Trial is one event to try a file with.
type Trial struct {
	Source Source
	// Event is passed as the daemon would pass it; see [Engine.Sample] for one made up.
	Event *event.Event
	// Name is pi's name of the event that is tried. A file that doesn't listen to it isn't run.
	// Empty means any pi event that corresponds to the event.
	Name string
	// Answers are given to dialogs, in order; when they run out, dialogs get no answer.
	Answers []Answer
	Timeout time.Duration // zero means a minute
}

// Tried is the result of a [Trial].
type Tried struct {
	Info     Info
	Decision event.Decision  // as it is before the agent's dialect writes it
	Err      error           // the file did not load, or failed as a guard would
	Inner    json.RawMessage // pi's answer to an event that happens inside it
	Took     time.Duration
	Console  []string // level: text
	Notices  []string
	Asked    []Question
	Actions  []HookAction
	Sent     []Message
	Problems []Problem
}

// Try loads a file in an engine of its own and passes it one event, with scripted answers.
// Nothing is remembered; files and processes it touches are real.
func Try(ctx context.Context, host Host, trial Trial) Tried {
	w := &scriptedUser{answers: trial.Answers}
	host.Asker, host.Sender, host.Recorder, host.Changed = w, w, w, nil
	e := New(host)
	defer e.Close()
	if trial.Timeout <= 0 {
		trial.Timeout = time.Minute
	}
	trial.Source.Watch = false
	m, err := e.Load(ctx, trial.Source)
	var t Tried
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, trial.Timeout)
		defer cancel()
		if err = m.checkListens(&trial); err == nil {
			began := time.Now()
			err = t.runTrial(ctx, e, m, &trial)
			t.Took = time.Since(began)
		}
	}
	if m != nil {
		t.Info = m.Info()
	}
	t.Err = err
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Console, t.Notices, t.Asked, t.Actions, t.Sent, t.Problems = w.console, w.notices, w.asked, w.actions, w.sent,
		w.problems
	return t
}

// NotListeningError says that a file doesn't listen to the event it was tried with.
type NotListeningError struct {
	Event  string
	Events []string // what it listens to
}

func (e *NotListeningError) Error() string {
	return "the file does not listen to " + e.Event + "; it listens to " +
		orElse(strings.Join(e.Events, ", "), "nothing")
}

// checkListens reports a trial that would run no handler.
func (m *Hook) checkListens(trial *Trial) error {
	m.mu.Lock()
	p := m.current.presenter
	m.mu.Unlock()
	names := []string{trial.Name}
	if trial.Name == "" {
		names = append(slices.Clone(byKind[trial.Event.Kind]), trial.Event.Native)
	}
	if slices.ContainsFunc(names, p.listensTo) {
		return nil
	}
	return &NotListeningError{Event: orElse(trial.Name, trial.Event.Native), Events: m.Info().Events}
}

// runTrial passes the event to the file as the daemon would.
func (t *Tried) runTrial(ctx context.Context, e *Engine, m *Hook, trial *Trial) error {
	ev := trial.Event
	call := &hook.Call{
		Event: ev, Hook: &hook.Registration{ID: filepath.Base(trial.Source.Path), Handler: hook.HandlerTypeScript},
		Carries: e.host.Catalogue.CarriesFor(ev),
	}
	if a, ok := e.host.Catalogue.Agent(ev.Agent); ok && slices.Contains(a.Inner, ev.Native) {
		inner, err := ReadInner(ev)
		if err != nil {
			return err
		}
		_, err = m.Pass(ctx, call, inner)
		t.Inner = inner.Answer()
		return err
	}
	d, err := m.Handle(ctx, call)
	t.Decision = d.Normalized()
	return err
}

// scriptedUser answers dialogs from a list and records what the hook did.
type scriptedUser struct {
	mu       sync.Mutex
	answers  []Answer
	console  []string
	notices  []string
	asked    []Question
	actions  []HookAction
	sent     []Message
	problems []Problem
}

func (w *scriptedUser) Ask(_ context.Context, q Question) (Answer, error) {
	w.mu.Lock()
	w.asked = append(w.asked, q)
	if len(w.answers) > 0 {
		a := w.answers[0]
		w.answers = w.answers[1:]
		w.mu.Unlock()
		return a, nil
	}
	w.mu.Unlock()
	return Answer{Cancelled: true}, nil
}

func (w *scriptedUser) CanAnyoneAnswer(*event.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.answers) > 0 || len(w.asked) > 0
}

func (w *scriptedUser) Notify(n Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, n.Level+": "+n.Text)
}

func (w *scriptedUser) Send(_ context.Context, m Message) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, m)
	return true, nil
}

func (w *scriptedUser) RecordAction(d HookAction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.actions = append(w.actions, d)
}

func (w *scriptedUser) Problem(p Problem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, p)
}

func (w *scriptedUser) RecordConsole(_, level, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.console = append(w.console, level+": "+strings.TrimRight(text, "\n"))
}
