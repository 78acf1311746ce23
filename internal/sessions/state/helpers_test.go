package state

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

var t0 = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// sec returns a moment so many seconds into the test.
func sec(n float64) time.Time { return t0.Add(time.Duration(n * float64(time.Second))) }

// world is sessions with a clock that moves ten seconds per event.
type world struct {
	t        *testing.T
	sessions *Sessions
	now      time.Time
	rules    Rules
	last     Change
}

func newWorld(t *testing.T) *world {
	return &world{t: t, sessions: NewSessions(), now: t0, rules: rulesOf(t, "claude")}
}

func rulesOf(t testing.TB, name string) Rules {
	t.Helper()
	a, ok := agent.Builtin().Agent(name)
	if !ok {
		t.Fatalf("no agent %s; want ok", name)
	}
	return Rules{Spec: &a.Status}
}

var key = Key{"claude", "s1"}

type option func(*event.Event)

func native(name string) option { return func(e *event.Event) { e.Native = name } }
func detail(word string) option { return func(e *event.Event) { e.Detail = word } }
func turn(id string) option     { return func(e *event.Event) { e.Turn = id } }
func prompt(s string) option    { return func(e *event.Event) { e.Prompt = s } }
func message(s string) option   { return func(e *event.Event) { e.Message = s } }
func at(when time.Time) option  { return func(e *event.Event) { e.Time = when } }
func title(s string) option     { return func(e *event.Event) { e.Title = s } }
func failure(s string) option   { return func(e *event.Event) { e.Error = s } }
func session(id string) option  { return func(e *event.Event) { e.Session = id } }
func rawBytes(s string) option  { return func(e *event.Event) { e.Raw = []byte(s) } }
func interrupted() option       { return func(e *event.Event) { e.Interrupted = true } }
func goingOn() option           { return func(e *event.Event) { e.GoingOn = true } }
func by(id, kind string) option {
	return func(e *event.Event) { e.Subagent = &event.Subagent{ID: id, Type: kind, Parent: e.Session} }
}
func from(pid int, start uint64) option {
	return func(e *event.Event) { e.Where = event.Place{PID: pid, Start: start} }
}

func shell(call, command string) option {
	return func(e *event.Event) {
		input, _ := json.Marshal(map[string]string{"command": command})
		e.Tool = &event.Tool{Name: "Bash", Kind: event.Shell, CallID: call, Commands: []string{command}, Input: input}
	}
}

func edit(call, path string) option {
	return func(e *event.Event) {
		input, _ := json.Marshal(map[string]string{"file_path": path})
		e.Tool = &event.Tool{Name: "Edit", Kind: event.FileEdit, CallID: call, Writes: []string{path}, Input: input}
	}
}

func gives(output string) option { return func(e *event.Event) { e.Tool.Output = []byte(output) } }
func failing() option            { return func(e *event.Event) { e.Tool.Failed = true } }

// natives are the events of these kinds as Claude names them.
var natives = map[event.Kind]string{
	event.SessionStart: "SessionStart", event.SessionEnd: "SessionEnd", event.TurnStart: "UserPromptSubmit",
	event.TurnEnd: "Stop", event.ToolBefore: "PreToolUse", event.ToolAfter: "PostToolUse",
	event.PermissionRequest: "PermissionRequest", event.PermissionResolved: "PermissionDenied",
	event.SubagentStart: "SubagentStart", event.SubagentEnd: "SubagentStop", event.UserAttention: "Notification",
	event.UserQuestion: "Elicitation", event.CompactBefore: "PreCompact", event.CompactAfter: "PostCompact",
}

func (w *world) event(kind event.Kind, opts ...option) *event.Event {
	w.now = w.now.Add(10 * time.Second)
	e := &event.Event{Agent: key.Agent, Session: key.ID, Kind: kind, Native: natives[kind], Time: w.now,
		Cwd: "/src/app"}
	for _, o := range opts {
		o(e)
	}
	return e
}

func (w *world) send(kind event.Kind, opts ...option) Change {
	w.last = w.sessions.Apply(w.event(kind, opts...), w.rules)
	return w.last
}

func (w *world) get() *Session {
	w.t.Helper()
	s, ok := w.sessions.Get(key)
	if !ok {
		return &Session{Key: key, Status: NeverRan}
	}
	return s
}

func (w *world) is(status Status) {
	w.t.Helper()
	if s := w.get(); s.Status != status {
		w.t.Errorf("%s, should be %s", s.Status, status)
	}
}

// Apply applies an event of a sender that does not number.
func (b *Sessions) Apply(ev *event.Event, rules Rules) Change { return b.ApplyNumbered(ev, 0, rules) }
