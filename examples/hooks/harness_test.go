package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/tshook"
)

const patience = 20 * time.Second

// harness is an engine with one example and a person who answers from a list.
type harness struct {
	t         *testing.T
	tsHook    *tshook.Hook
	catalogue *agent.Catalogue
	cwd       string

	mu       sync.Mutex
	answers  []string
	asked    []tshook.Question
	sent     []tshook.Message
	problems []tshook.Problem
	notices  []string
}

func play(t *testing.T, file string) *harness {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return playFile(t, path)
}

func playFile(t *testing.T, path string) *harness {
	t.Helper()
	cwd, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &harness{t: t, catalogue: agent.Builtin(), cwd: cwd}
	engine := tshook.New(tshook.Host{Asker: s, Sender: s, Recorder: s, Catalogue: s.catalogue})
	t.Cleanup(engine.Close)
	if s.tsHook, err = engine.Load(context.Background(), tshook.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *harness) Ask(_ context.Context, q tshook.Question) (tshook.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	if len(s.answers) == 0 {
		return tshook.Answer{Cancelled: true}, nil
	}
	word := s.answers[0]
	s.answers = s.answers[1:]
	return tshook.Answer{Value: word, Confirmed: word == "yes"}, nil
}

func (s *harness) CanAnyoneAnswer(*event.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers) > 0
}

func (s *harness) Notify(n tshook.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, n.Text)
}

func (s *harness) Send(_ context.Context, m tshook.Message) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, m)
	return true, nil
}

func (s *harness) words() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, m := range s.sent {
		all = append(all, m.Text)
	}
	return strings.Join(all, "\n")
}

func (s *harness) RecordAction(tshook.HookAction)       {}
func (s *harness) RecordConsole(string, string, string) {}
func (s *harness) Problem(p tshook.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, p)
}

// recorded returns an event a real agent sent; the file is named after it.
func (s *harness) recorded(name, file string) *event.Event {
	s.t.Helper()
	payload, err := os.ReadFile(filepath.Join("../../agent/testdata/fixtures", name, file+".json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return s.read(name, file, payload)
}

func (s *harness) read(name, file string, payload []byte) *event.Event {
	s.t.Helper()
	a, _ := s.catalogue.Agent(name)
	native := ""
	for _, word := range []string{"event.", "hook."} {
		file = strings.TrimPrefix(file, word)
	}
	for _, e := range a.Events {
		if strings.HasPrefix(file+".", e.Name+".") && len(e.Name) > len(native) {
			native = e.Name
		}
	}
	ev := s.catalogue.Decode(agent.Input{ID: "x", Time: time.Now(), Agent: name, Event: native, Payload: payload,
		Env: func(string) string { return "" }})
	if ev.Malformed != "" || native == "" {
		s.t.Fatalf("%s %s cannot be read: %s", name, file, ev.Malformed)
	}
	ev.Cwd, ev.Session = s.cwd, "session-1"
	return &ev
}

// about returns a recorded event about another command or file than the recorded.
func (s *harness) about(name, file, subject string) *event.Event {
	s.t.Helper()
	payload, err := os.ReadFile(filepath.Join("../../agent/testdata/fixtures", name, file+".json"))
	if err != nil {
		s.t.Fatal(err)
	}
	ev := s.read(name, file, payload)
	all := slices.Concat(ev.Tool.Commands, ev.Tool.Writes)
	if len(all) == 0 {
		s.t.Fatalf("%s %s names no command and no file", name, file)
	}
	changed := bytes.ReplaceAll(payload, inJSON(all[0]), inJSON(subject))
	if bytes.Equal(changed, payload) {
		s.t.Fatalf("%s %s does not hold %q", name, file, all[0])
	}
	return s.read(name, file, changed)
}

func inJSON(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // agents do not
	_ = enc.Encode(text)
	return b.Bytes()[1 : b.Len()-2]
}

func (s *harness) put(ev *event.Event) event.Decision {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d, err := s.tsHook.Handle(ctx, &hook.Call{Event: ev, Hook: &hook.Registration{ID: "x"},
		Carries: s.catalogue.CarriesFor(ev)})
	if err != nil {
		s.t.Fatalf("%s %s: error %v, want no error", ev.Agent, ev.Native, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.problems {
		s.t.Errorf("%s %s: problem %v, want none", ev.Agent, ev.Native, p)
	}
	return d.Normalized()
}

func (s *harness) eventually(what string, holds func() bool) {
	s.t.Helper()
	await.Until(s.t, what, holds)
}

func want(t *testing.T, who string, d event.Decision, verdict event.Verdict, reason string) {
	t.Helper()
	if d.Verdict != verdict || !strings.Contains(d.Reason, reason) {
		t.Errorf("%s: %s %q, want %s %q", who, d.Verdict.Word(), d.Reason, verdict.Word(), reason)
	}
}

// repository makes the harness's folder one with a commit in it.
func (s *harness) repository() {
	s.t.Helper()
	s.git("init", "-q")
	s.file("kept.txt", "one\n")
	s.git("add", ".")
	s.git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "first")
}

func (s *harness) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.cwd
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *harness) file(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.cwd, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *harness) content(name string) string {
	b, err := os.ReadFile(filepath.Join(s.cwd, name))
	if err != nil {
		return "(none)"
	}
	return string(b)
}

// prompt returns a recorded prompt with other words.
func (s *harness) prompt(name, text string) *event.Event {
	ev := s.recorded(name, prompts[name])
	before := inJSON(ev.Prompt)
	ev.Prompt = text
	ev.Raw = bytes.ReplaceAll(ev.Raw, before, inJSON(text)) // pi's own event is read from here
	return ev
}
