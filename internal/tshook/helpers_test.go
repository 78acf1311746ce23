package tshook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// harness is an engine with a scripted person and a memory of what hooks did.
type harness struct {
	t      *testing.T
	engine *Engine
	dir    string

	mu        sync.Mutex
	answers   []Answer // the user's, in order; none left means nobody answers
	nobody    bool
	questions []Question
	notices   []string
	actions   []HookAction
	problems  []Problem
	lines     []string
	sent      []Message
	deliver   bool
	changed   chan *Hook
}

func newHarness(t *testing.T, tweak func(*Host)) *harness {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &harness{t: t, dir: dir, changed: make(chan *Hook, 100)}
	host := Host{Asker: s, Sender: s, Recorder: s, CacheDir: filepath.Join(dir, "cache"), Version: "test",
		Changed: func(m *Hook) {
			select {
			case s.changed <- m:
			default:
			}
		}}
	if tweak != nil {
		tweak(&host)
	}
	s.engine = New(host)
	t.Cleanup(s.engine.Close)
	return s
}

func (s *harness) Ask(ctx context.Context, q Question) (Answer, error) {
	s.mu.Lock()
	s.questions = append(s.questions, q)
	if len(s.answers) > 0 {
		a := s.answers[0]
		s.answers = s.answers[1:]
		s.mu.Unlock()
		return a, nil
	}
	s.mu.Unlock()
	<-ctx.Done()
	return Answer{}, ctx.Err()
}

func (s *harness) CanAnyoneAnswer(*event.Event) bool { return !s.nobody }

func (s *harness) Notify(n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, n.Level+": "+n.Text)
}

func (s *harness) Send(_ context.Context, m Message) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, m)
	return s.deliver, nil
}

func (s *harness) RecordAction(d HookAction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions = append(s.actions, d)
}

func (s *harness) Problem(p Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, p)
}

func (s *harness) RecordConsole(_, level, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, level+": "+text)
}

func (s *harness) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

func (s *harness) troubles() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range s.problems {
		out = append(out, p.Error())
	}
	return strings.Join(out, "\n")
}

func (s *harness) noticed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.notices, "\n")
}

// file writes a file of the harness.
func (s *harness) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// load writes and loads a hook that must load.
func (s *harness) load(name, text string) *Hook {
	s.t.Helper()
	m, err := s.engine.Load(context.Background(), Source{Path: s.file(name, text)})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// handle gives a hook an event, with plenty of time.
func (s *harness) handle(m *Hook, ev *event.Event) (event.Decision, error) {
	return s.within(m, ev, 20*time.Second)
}

func (s *harness) within(m *Hook, ev *event.Event, limit time.Duration) (event.Decision, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return m.Handle(ctx, &hook.Call{Event: ev, Hook: &hook.Registration{}, Carries: agent.Builtin().CarriesFor(ev)})
}

// must is handle for events that must be answered.
func (s *harness) must(m *Hook, ev *event.Event) event.Decision {
	s.t.Helper()
	d, err := s.handle(m, ev)
	if err != nil {
		s.t.Fatalf("%s: error %v, s.troubles() = %s; want no error", ev.Native, err, s.troubles())
	}
	return d
}

// native decodes what an agent sent.
func (s *harness) native(agentName, native, payload string) *event.Event {
	s.t.Helper()
	ev := agent.Builtin().Decode(agent.Input{ID: "1", Agent: agentName, Event: native, Payload: []byte(payload),
		Time: time.UnixMilli(1_700_000_000_000)})
	if ev.Malformed != "" {
		s.t.Fatalf(`%s %s: ev.Malformed = %s, want ""`, agentName, native, ev.Malformed)
	}
	return &ev
}

// claude returns one of Claude Code's events in the harness's folder.
func (s *harness) claude(native string, fields pi.Object) *event.Event {
	s.t.Helper()
	payload := pi.Object{"session_id": "s1", "cwd": s.dir, "hook_event_name": native,
		"transcript_path": "/home/user/t.jsonl"}
	for k, v := range fields {
		payload[k] = v
	}
	b, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.native("claude", native, string(b))
}

func (s *harness) bash(command string) *event.Event {
	return s.claude("PreToolUse", pi.Object{"tool_name": "Bash", "tool_use_id": "c1",
		"tool_input": pi.Object{"command": command, "description": "x"}})
}
