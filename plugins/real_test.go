package plugins_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/plugins"
)

// realTestBed is a real agent with its plugin, and a real daemon where wanted.
type realTestBed struct {
	*agentstest.TestBed
	dirs paths.Dirs

	mu   sync.Mutex
	seen []event.Event
	keep int // how often the turn is still to be kept going
	hold chan struct{}
}

func newRealTestBed(t *testing.T, name string, o plugins.Options) *realTestBed {
	t.Helper()
	s := &realTestBed{TestBed: agentstest.NewTestBed(t, name, model.Scenario{})}
	runtime := sandbox.TempDir(t)
	s.Env = append(s.Env, paths.RuntimeVariable+"="+filepath.Join(runtime, "run"))
	var err error
	if s.dirs, err = paths.Find(paths.GetenvLast(s.Env)); err != nil {
		t.Fatal(err)
	}
	s.dirs.System = filepath.Join(runtime, "etc")
	o.Version = "0.0.0-test"
	source, err := plugins.Render(name, o)
	if err != nil {
		t.Fatal(err)
	}
	// The catalogue says where; the throw-away home of OpenCode already has
	// what keeps it from waiting for a network.
	folder := map[string]string{"opencode": ".config/opencode/plugins", "pi": ".pi/agent/extensions"}[name]
	writeFile(t, filepath.Join(s.Home, folder), "hookmux.js", string(source))
	return s
}

// outsider hides this process from the daemon: it is the agent's parent, too.
type outsider struct{ proc.Table }

func (o outsider) Lookup(pid int) (proc.Process, error) {
	if pid == os.Getpid() {
		return proc.Process{}, proc.ErrGone
	}
	return o.Table.Lookup(pid)
}

// startDaemon runs a daemon whose one hook decides by the words of the command.
func (s *realTestBed) startDaemon(t *testing.T) {
	t.Helper()
	entry, err := hook.NewEntry(hook.Registration{
		ID: "real", Agent: hook.Any, HookType: hook.Any, Handler: "builtin", Target: "real", Role: hook.Guard,
	}, hook.HandlerFunc(s.decide), "global")
	if err != nil {
		t.Fatal(err)
	}
	h, err := daemon.New(daemon.Options{Dirs: s.dirs, Version: "0.0.0-test", Table: outsider{proc.System()},
		Extra: []*hook.Entry{entry}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the daemon listens", func() bool { _, err := os.Stat(s.dirs.Socket()); return err == nil })
}

func (s *realTestBed) decide(ctx context.Context, call *hook.Call) (event.Decision, error) {
	ev := *call.Event
	ev.Raw = append([]byte(nil), ev.Raw...)
	s.mu.Lock()
	s.seen = append(s.seen, ev)
	s.mu.Unlock()
	words := ev.Prompt
	if ev.Tool != nil {
		words = string(ev.Tool.Input)
	}
	switch {
	case ev.Kind == event.ToolBefore && strings.Contains(words, "ran-denied"):
		return event.Decision{Verdict: event.Deny, Reason: "denied-by-hookmux"}, nil
	case ev.Kind == event.ToolBefore && strings.Contains(words, "ran-original"):
		return event.Decision{Verdict: event.Modify,
			Input: json.RawMessage(`{"command":"touch ran-changed; echo out-changed"}`)}, nil
	case ev.Kind == event.ToolBefore && strings.Contains(words, "ran-asked"):
		return event.Decision{Verdict: event.Ask, Reason: "asked-by-hookmux"}, nil
	case ev.Kind == event.ToolBefore && strings.Contains(words, "ran-held"):
		select {
		case <-s.hold:
		case <-ctx.Done():
		}
		return event.Decision{}, nil
	case ev.Kind == event.ToolAfter && strings.Contains(words, "ran-result"):
		return event.Decision{Output: json.RawMessage(`"replaced-by-hookmux"`), Context: "and-more-words"}, nil
	case ev.Kind == event.TurnStart && strings.Contains(words, "with-context"):
		return event.Decision{Context: "context-by-hookmux"}, nil
	case ev.Kind == event.TurnEnd:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.keep > 0 {
			s.keep--
			return event.Decision{KeepGoing: true, Reason: "keep-going-by-hookmux"}, nil
		}
	case ev.Kind == event.PermissionRequest && strings.Contains(words, "ran-permitted"):
		return event.Decision{Verdict: event.Allow}, nil
	case ev.Kind == event.PermissionRequest && strings.Contains(words, "ran-forbidden"):
		return event.Decision{Verdict: event.Deny, Reason: "forbidden-by-hookmux"}, nil
	}
	return event.Decision{}, nil
}

// kinds returns the kinds of the events that arrived, in order, with the time
// since the first.
func (s *realTestBed) kinds() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, ev := range s.seen {
		all = append(all, string(ev.Kind)+"+"+ev.Time.Sub(s.seen[0].Time).Round(time.Millisecond).String())
	}
	return strings.Join(all, " ")
}

func (s *realTestBed) events(kind event.Kind) []event.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []event.Event
	for _, ev := range s.seen {
		if ev.Kind == kind {
			out = append(out, ev)
		}
	}
	return out
}

func (s *realTestBed) ran(tag string) bool {
	_, err := os.Stat(filepath.Join(s.Project, "ran-"+tag))
	return err == nil
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

func script(s *agentstest.TestBed, commands ...string) model.Scenario {
	var sc model.Scenario
	for _, c := range commands {
		sc.Steps = append(sc.Steps, model.Step{Calls: []model.ToolCall{s.Agent.Shell.Call(c)}})
	}
	sc.Steps = append(sc.Steps, model.Step{Say: "The scripted turn is over."})
	return sc
}

// TestRealPlugins has each agent's plugin refuse, change and add.
func TestRealPlugins(t *testing.T) {
	for _, name := range plugins.Sources() {
		t.Run(name, func(t *testing.T) {
			s := newRealTestBed(t, name, plugins.Options{})
			s.Model.SetScenario(s.Run, script(s.TestBed, "touch ran-denied", "touch ran-original",
				"touch ran-result; echo the-real-result", "exit 3"))
			s.startDaemon(t)
			r := s.Headless(t, "with-context "+model.Mark(""))
			if r.Exit != 0 {
				t.Errorf("exit %d, want 0", r.Exit)
			}
			t.Logf("%s: %s", r.Took.Round(time.Millisecond), s.kinds())
			if s.ran("denied") || !s.Model.Saw(s.Run, "denied-by-hookmux") {
				t.Errorf("deny: ran %v, told %v", s.ran("denied"), s.Model.Saw(s.Run, "denied-by-hookmux"))
			}
			if s.ran("original") || !s.ran("changed") || !s.Model.Saw(s.Run, "out-changed") {
				t.Errorf("changed input: original ran %v, changed ran %v", s.ran("original"), s.ran("changed"))
			}
			if !s.ran("result") || !s.Model.Saw(s.Run, "replaced-by-hookmux") ||
				!s.Model.Saw(s.Run, "and-more-words") || s.Model.Saw(s.Run, "the-real-result") {
				t.Error("changed result: the model did not see it, or the real one")
			}
			if !s.Model.Saw(s.Run, "context-by-hookmux") {
				t.Error("context: the model was not told")
			}
			for kind, want := range map[event.Kind]int{
				event.SessionStart: 1, event.TurnStart: 1, event.ToolBefore: 4, event.ToolAfter: 4, event.TurnEnd: 1, event.SessionEnd: 1,
			} {
				if got := s.events(kind); len(got) != want {
					t.Errorf("%d of %s, want %d", len(got), kind, want)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			session := s.seen[0].Session
			for _, ev := range s.seen {
				if ev.Agent != name || ev.Session == "" || ev.Session != session || ev.Malformed != "" ||
					ev.Cwd != s.Project {
					t.Errorf(`%s %s: session %q, cwd %q, %s; want ev.Agent == name, ev.Session != "", `+
						`ev.Session == session, ev.Malformed == "" and ev.Cwd == s.Project`,
						ev.Agent, ev.Native, ev.Session, ev.Cwd, ev.Malformed)
				}
				if ev.Tool != nil && ev.Tool.Name != "bash" {
					t.Errorf(`%s: tool %s; want ev.Tool == nil or ev.Tool.Name == "bash"`, ev.Native, ev.Tool.Name)
				}
				if ev.Kind == event.TurnEnd && !strings.Contains(ev.Message, "scripted turn is over") {
					t.Errorf(`last words: %q; want ev.Kind != event.TurnEnd or "scripted turn is over" in `+
						`ev.Message`, ev.Message)
				}
				if ev.Kind != event.SessionStart && ev.AgentVersion != s.In.Version {
					t.Errorf("%s: version %q; want ev.Kind == event.SessionStart or ev.AgentVersion == "+
						"s.In.Version", ev.Native, ev.AgentVersion)
				}
				if ev.Attended != event.AttendedNo {
					t.Errorf("%s: attended %q, want event.AttendedNo", ev.Native, ev.Attended)
				}
			}
			failed := 0
			for _, ev := range s.seen {
				if ev.Kind == event.ToolAfter && ev.Tool.Failed {
					failed++
				}
			}
			if failed != 2 { // the denied one, and exit 3
				t.Errorf("%d calls failed, want 2", failed)
			}
		})
	}
}

// No daemon and no hookmux, and the agent works as if
// nothing were installed.
func TestRealPluginsWithoutDaemon(t *testing.T) {
	agentstest.Repeats(t, "TestRealAgentsWorkWithoutHookmux")
	for _, name := range plugins.Sources() {
		t.Run(name, func(t *testing.T) {
			s := newRealTestBed(t, name, plugins.Options{Hook: "/nowhere/hookmux-hook"})
			s.Model.SetScenario(s.Run, script(s.TestBed, "touch ran-denied; echo out-denied"))
			if r := s.Headless(t, "go "+model.Mark("")); r.Exit != 0 || !s.ran("denied") ||
				!s.Model.Saw(s.Run, "out-denied") {
				t.Errorf(`exit %d, ran %v; want r.Exit == 0, s.ran("denied") and s.Model.Saw(s.Run, `+
					`"out-denied")`, r.Exit, s.ran("denied"))
			} else {
				t.Logf("%s", r.Took.Round(time.Millisecond))
			}
		})
	}
}

// No daemon, but hookmux-hook: nothing is lost.
func TestRealPluginsLeaveEvents(t *testing.T) {
	agentstest.Repeats(t, "the row daemon-absent")
	for _, name := range plugins.Sources() {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "hookmux-hook")
			s := newRealTestBed(t, name, plugins.Options{Hook: program})
			if err := programs.Build(filepath.Dir(program), programs.Options{Names: []string{"hookmux-hook"}}); err != nil {
				t.Fatal(err)
			}
			s.Model.SetScenario(s.Run, script(s.TestBed, "touch ran-denied; echo out-denied"))
			if r := s.Headless(t, "go "+model.Mark("")); r.Exit != 0 || !s.ran("denied") {
				t.Errorf(`exit %d, ran %v; want r.Exit == 0 and s.ran("denied")`, r.Exit, s.ran("denied"))
			} else {
				t.Logf("%s", r.Took.Round(time.Millisecond))
			}
			var left []string
			eventually(t, "events lie in the spool", func() bool {
				left, _ = filepath.Glob(filepath.Join(s.dirs.Spool(), "*"))
				return len(left) >= 4
			})
		})
	}
}

func TestRealPiKeepsGoing(t *testing.T) {
	agentstest.Repeats(t, "the row keep")
	s := newRealTestBed(t, "pi", plugins.Options{})
	s.Model.SetScenario(s.Run, script(s.TestBed, "touch ran-once"))
	s.keep = 1
	s.startDaemon(t)
	if r := s.Headless(t, "go "+model.Mark("")); r.Exit != 0 || !s.Model.Saw(s.Run, "keep-going-by-hookmux") {
		t.Errorf("exit %d, told %v", r.Exit, s.Model.Saw(s.Run, "keep-going-by-hookmux"))
	}
	if got := s.events(event.TurnEnd); len(got) != 2 {
		t.Errorf("%d ends, want the refused and the real one: %s", len(got), s.kinds())
	}
}

// An abort ends the wait at once, and the call does not run.
func TestRealPiAbort(t *testing.T) {
	s := newRealTestBed(t, "pi", plugins.Options{})
	s.Model.SetScenario(s.Run, script(s.TestBed, "touch ran-held"))
	s.hold = make(chan struct{}) // never opened: only the abort ends it
	s.startDaemon(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := realagents.Command(ctx, s.In, s.Env, s.Project, "--provider", "scripted", "--model", "scripted", "--mode", "rpc")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	say := func(message map[string]any) {
		b, _ := json.Marshal(message)
		if _, err := stdin.Write(append(b, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	say(map[string]any{"type": "prompt", "message": "go " + model.Mark("")})
	eventually(t, "the call waits", func() bool { return len(s.events(event.ToolBefore)) == 1 })
	say(map[string]any{"type": "abort"})
	eventually(t, "the turn ends", func() bool { return len(s.events(event.TurnEnd)) == 1 })
	stdin.Close()
	_ = cmd.Wait() // its exit code is its own
	if s.ran("held") {
		t.Error("the tool ran after the abort")
	}
	if ends := s.events(event.TurnEnd); len(ends) != 1 || ends[0].Detail != "cancelled" {
		t.Errorf(`ends: %+v; want len(ends) == 1 and ends[0].Detail == "cancelled"`, ends)
	}
	if n := len(s.events(event.SessionEnd)); n != 1 {
		t.Errorf("%d ends of the session", n)
	}
}
