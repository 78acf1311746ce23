package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// asker lets files ask the user.
type asker struct{ s *Service }

var kindOfQuestion = map[tshook.QuestionKind]queue.QuestionKind{
	tshook.Select: queue.Select, tshook.Confirm: queue.Confirm,
	tshook.Input: queue.Input, tshook.Editor: queue.Input,
}

func (a asker) Ask(ctx context.Context, q tshook.Question) (tshook.Answer, error) {
	text := q.Text
	if note := a.s.files.goneNote(q.Hook); note != "" {
		text = strings.TrimLeft(text+"\n"+note, "\n")
	}
	question := queue.Question{
		By: a.s.files.idOf(q.Hook), Kind: kindOfQuestion[q.Kind], Title: q.Title, Text: text,
		Options: q.Options, Placeholder: q.Placeholder,
	}
	words, err := a.s.options.People.AskUser(ctx, q.Event, question)
	if err != nil {
		return tshook.Answer{Cancelled: true}, err
	}
	return tshook.Answer{Confirmed: question.IsYes(words), Value: words, By: event.ByUser}, nil
}

func (a asker) CanAnyoneAnswer(*event.Event) bool { return a.s.options.People.CanAnyoneAnswer() }

func (a asker) Notify(n tshook.Notice) { a.s.publishText(n.Hook, n.Text) }

// publishText shows what a file says to users who watch.
func (s *Service) publishText(path, text string) {
	text = redact.Text(s.files.showPaths(path, text))
	id := s.files.idOf(path)
	s.deps.Log.Info("trace", "hook", id, "text", text)
	s.deps.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: id, Text: text})
}

// sender sends a file's messages to a session: through the agent's plugin, or with the
// session's next event.
type sender struct{ s *Service }

func (a sender) Send(_ context.Context, m tshook.Message) (bool, error) {
	delivered := false
	var err error
	// What must not start a turn must not come as if the user had typed it.
	if m.Turn || m.Deliver != "" && m.Deliver != "nextTurn" {
		delivered, err = a.s.options.Plugins.Send(m.Agent, m.Session, m.Text)
	}
	if err == nil && !delivered {
		a.s.queued.Store(sessionKey{m.Agent, m.Session}, true)
	}
	return delivered, err
}

// models lets a file use the models of the agent it looks at, inside that agent: no
// provider's key enters the daemon.
type models struct{ s *Service }

var errNoPlugin = errors.New("complete: hookmux's extension does not listen in this session, " +
	"so its models cannot be used " +
	"(pi in a terminal or RPC mode, hookmux's extension of this version)")

func (a models) Complete(ctx context.Context, ev *event.Event, call json.RawMessage) (json.RawMessage, error) {
	done, heard, err := a.s.options.Plugins.Call(ctx, ev.Agent, ev.Session, call)
	switch {
	case !heard:
		return nil, tshook.NotListening(errNoPlugin)
	case err != nil:
		return nil, errors.New("complete: the model gave no answer in time")
	case done.Error != "":
		return nil, errors.New("complete: " + done.Error)
	case len(done.Result) == 0:
		return nil, errors.New("complete: the extension in the agent is older than hookmux; `hookmux install` " +
			"renews it")
	}
	return done.Result, nil
}

// queuedEntry returns the hook that passes a session the messages waiting for it; nil if
// there are none, which is nearly always.
func (s *Service) queuedEntry(ev *event.Event, carries event.Carries) *hook.Entry {
	key := sessionKey{ev.Agent, ev.Session}
	if !carries.Context {
		return nil
	}
	if _, waits := s.queued.Load(key); !waits {
		return nil
	}
	engine := s.files.currentEngine()
	if engine == nil {
		return nil
	}
	reg := hook.Registration{
		ID: "typescript.send", Agent: hook.Any, HookType: hook.Any, Handler: hook.HandlerTypeScript, Target: "send", Role: hook.Advise,
	}
	e, err := hook.NewEntry(reg, hook.HandlerFunc(func(ctx context.Context, call *hook.Call) (event.Decision, error) {
		s.queued.Delete(key)
		return engine.Queued().Handle(ctx, call)
	}), "builtin")
	if err != nil {
		return nil
	}
	e.Inline = true
	return e
}

// recorder records what files do.
type recorder struct{ s *Service }

func (r recorder) RecordAction(d tshook.HookAction) { r.s.actions.addAction(d) }

// Problem shows a file's failure, until the file changes.
func (r recorder) Problem(p tshook.Problem) {
	if r.s.files.isDeleted(p.Hook) {
		return
	}
	text := r.s.files.showPaths(p.Hook, p.Error())
	if p.Event != "" {
		text += " (at " + p.Event + ")"
	}
	r.s.deps.Problems.Raise(problemKey(p.Hook)+p.Event+":"+p.Where+":"+p.Text, text,
		"fix the file; it's reloaded when it changes (`hookmux hooks list`)")
}

func (r recorder) RecordConsole(path, level, text string) {
	if level != "log" && level != "info" && level != "" {
		text = level + ": " + text
	}
	r.s.publishText(path, text)
}

// writeAction puts what a file did into the journal, as an event of hookmux's
// own.
func (s *Service) writeAction(one tshook.HookAction, times int) {
	payload := map[string]any{
		"hook": s.files.idOf(one.Hook), "file": s.files.showPaths(one.Hook, one.Hook),
		"action": one.Action, "detail": s.files.showPaths(one.Hook, one.Detail),
	}
	for key, value := range map[string]string{"agent": one.Agent, "session": one.Session, "error": one.Err} {
		if value != "" {
			payload[key] = value
		}
	}
	if times > 1 {
		payload["times"] = times
	}
	s.options.Journal(wire.OwnHook, frame.NewID(), time.Now(), payload)
}
