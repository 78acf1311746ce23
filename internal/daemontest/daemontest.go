// Package daemontest runs a daemon for a test, with folders of its own and a made-up
// process table, and speaks to it as hooks, plugins and people do.
//
// It does not import the daemon, so that the daemon's own tests can use it: a test
// gives New a function that makes the daemon.
package daemontest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Patience is how long a test waits for what must come; it is never what a
// test measures.
const Patience = await.Patience

// Pids that no system gives out, so that they never meet a real process.
const (
	ShellPID  = 5_000_001
	AgentPID  = 5_000_002
	DaemonPID = 5_000_003
	ToolPID   = 5_000_004
)

// AtTerminal puts the test below a shell at a terminal. The test process is
// every peer of the daemon; these tables say what stands above it.
func AtTerminal(below ...proctest.Node) *proctest.Table {
	if below == nil {
		below = []proctest.Node{{PID: os.Getpid(), Name: "hookmux", Program: "/usr/bin/hookmux", Group: true}}
	}
	return proctest.New(proctest.Node{PID: ShellPID, Name: "bash", Program: "/usr/bin/bash", Session: true,
		TTY: "/dev/pts/77", Below: below})
}

// BelowAgent puts the test below an agent.
func BelowAgent(name string) *proctest.Table {
	return AtTerminal(proctest.Node{PID: AgentPID, Name: name, Program: "/opt/" + name + "/bin/" + name,
		Below: []proctest.Node{
			{PID: ToolPID, Name: "sh", Program: "/usr/bin/sh",
				Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook",
					Program: "/usr/bin/hookmux-hook"}}},
		}})
}

// BelowDaemon puts the test below an agent that the daemon started.
func BelowDaemon() *proctest.Table {
	return AtTerminal(proctest.Node{PID: DaemonPID, Name: "hookmux", Program: "/usr/bin/hookmux",
		Below: []proctest.Node{
			{PID: AgentPID, Name: "claude", Program: "/opt/claude/bin/claude",
				Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook",
					Program: "/usr/bin/hookmux-hook"}}},
		}})
}

// Tables is a process table that a test can exchange under a running daemon.
type Tables struct {
	mu  sync.Mutex
	now *proctest.Table
}

// Set exchanges the table.
func (t *Tables) Set(to *proctest.Table) { t.mu.Lock(); t.now = to; t.mu.Unlock() }

func (t *Tables) Lookup(pid int) (proc.Process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Lookup(pid)
}

func (t *Tables) Program(pid int) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Program(pid)
}

func (t *Tables) Args(pid int) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Args(pid)
}

func (t *Tables) Environ(pid int) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Environ(pid)
}

// Setup configures a daemon under test.
type Setup struct {
	Dirs      paths.Dirs
	Processes proc.Table
	Facts     authority.Source
	Asker     *authoritytest.Agrees
	Version   string
	PID       int // that the daemon takes for its own
	Extra     []*hook.Entry
	Log       io.Writer
	// LiveSettings lets the user's files count as they are.
	LiveSettings bool
	// Person says that a person starts the daemon.
	ByUser bool
}

// Daemon is the part of a daemon that the harness needs.
type Daemon interface {
	Run(ctx context.Context) error
	// ForgetProcesses drops what was remembered of the process table.
	ForgetProcesses()
	// CallMethod calls a method from within the daemon, where nobody is checked.
	CallMethod(method string, params, result any) error
}

// Bench is a daemon with its folders and a client of it.
type Bench struct {
	*sandbox.Home

	T      *testing.T
	Table  *Tables
	Client *client.Client
	// Person sits at the test's terminal.
	Person authoritytest.Agrees
	// Accept has the daemon want changes of the user's files accepted, as a real
	// one does. Without it tests write settings as they need them.
	Accept bool
	// ByUser has the daemon started by a person.
	ByUser bool

	makeDaemon func(Setup) (Daemon, error)
	daemon     Daemon
	stop       context.CancelFunc
	ended      chan error
}

// New makes folders without a running daemon. The test runs in parallel with
// others: benches have nothing in common.
func New(t *testing.T, makeDaemon func(Setup) (Daemon, error)) *Bench {
	t.Helper()
	t.Parallel()
	return Another(t, makeDaemon)
}

// Another is New for a test that has a bench already.
func Another(t *testing.T, makeDaemon func(Setup) (Daemon, error)) *Bench {
	t.Helper()
	home := sandbox.NewForTest(t, sandbox.Options{})
	if err := os.MkdirAll(home.Dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	w := &Bench{
		Home: home, T: t, Table: &Tables{now: AtTerminal()}, makeDaemon: makeDaemon,
		Client: &client.Client{Socket: home.Dirs.Socket(), Timeout: Patience},
	}
	t.Cleanup(w.Down)
	return w
}

// Make makes the daemon without starting it.
func (w *Bench) Make(extra ...*hook.Entry) {
	w.T.Helper()
	// The test is the peer and the daemon at once; the daemon must not take its
	// peers for its own children.
	h, err := w.makeDaemon(Setup{
		Dirs: w.Dirs, Processes: w.Table, Facts: authoritytest.Machine{Table: w.Table}, Asker: &w.Person,
		Version: "1.0.0", PID: DaemonPID, Extra: extra, Log: &testLog{t: w.T},
		LiveSettings: !w.Accept, ByUser: w.ByUser,
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.daemon = h
}

// Start starts the daemon and waits until it answers.
func (w *Bench) Start() {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h, ended := w.daemon, make(chan error, 1)
	w.stop, w.ended = cancel, ended
	go func() { ended <- h.Run(ctx) }()
	w.Eventually("the daemon answers", func() bool {
		_, err := w.Client.Info(context.Background())
		return err == nil
	})
}

// Up makes and starts the daemon.
func (w *Bench) Up(extra ...*hook.Entry) {
	w.T.Helper()
	w.Make(extra...)
	w.Start()
}

// Down stops the daemon cleanly.
func (w *Bench) Down() {
	w.T.Helper()
	if w.stop == nil {
		return
	}
	w.stop()
	w.stop = nil
	w.WaitEnd()
}

// WaitEnd waits for a daemon that was told to end.
func (w *Bench) WaitEnd() {
	w.T.Helper()
	select {
	case err := <-w.ended:
		w.stop = nil
		if err != nil {
			w.T.Errorf("the daemon ended with %v", err)
		}
	case <-time.After(Patience):
		w.T.Fatal("the daemon does not end")
	}
}

// SetProcesses exchanges the process table.
func (w *Bench) SetProcesses(t *proctest.Table) {
	w.Table.Set(t)
	w.daemon.ForgetProcesses()
}

// Eventually waits until something holds.
func (w *Bench) Eventually(what string, holds func() bool) {
	w.T.Helper()
	await.Until(w.T, what, holds)
}

// Dial connects to the daemon.
func (w *Bench) Dial() net.Conn {
	w.T.Helper()
	conn, err := net.Dial("unix", w.Dirs.Socket())
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(Patience))
	return conn
}

// Send sends a frame and waits for its reply.
func (w *Bench) Send(r frame.Request) frame.Reply {
	w.T.Helper()
	reply, err := w.TrySend(r)
	if err != nil {
		w.T.Fatalf("%s %s: no reply: %v", r.Agent, r.Event, err)
	}
	return reply
}

// TrySend sends a frame and gives what came back, or why nothing did.
func (w *Bench) TrySend(r frame.Request) (frame.Reply, error) {
	if r.ID == "" {
		r.ID = frame.NewID()
	}
	return sandbox.SendFrame(w.Dirs.Socket(), &r, max(Patience, r.Deadline))
}

// ToolBefore returns a call of the shell tool that is about to run, as the agent says
// it.
func ToolBefore(agent, session, cwd, command string) frame.Request {
	tool, input := "tool_name", "tool_input"
	payload := map[string]any{"session_id": session, "cwd": cwd, "hook_event_name": "PreToolUse", tool: "Bash",
		input: map[string]string{"command": command}}
	if agent == "grok" {
		payload[tool] = "run_terminal_command"
		payload["hookEventName"], payload["sessionId"], payload["toolName"] = "pre_tool_use", session,
			"run_terminal_command"
		payload["toolInput"] = payload[input]
	}
	b, _ := json.Marshal(payload)
	return frame.Request{Agent: agent, Event: "PreToolUse", Cwd: cwd, Payload: b, Deadline: Patience}
}

// SessionEvent returns an event with a name and further members, of session s1.
func SessionEvent(agent, name string, more map[string]any) frame.Request {
	payload := map[string]any{"session_id": "s1", "hook_event_name": name}
	for k, v := range more {
		payload[k] = v
	}
	b, _ := json.Marshal(payload)
	return frame.Request{Agent: agent, Event: name, Payload: b, Deadline: Patience}
}

// Denies reports whether a reply refuses in whichever words.
func Denies(r frame.Reply) bool {
	return strings.Contains(string(r.Stdout), `"deny"`) || strings.Contains(string(r.Stdout), `"block"`)
}

// MustDeny sends a frame that must be refused, with this text in the answer.
func (w *Bench) MustDeny(r frame.Request, because string) {
	w.T.Helper()
	if got := w.Send(r); !Denies(got) || !bytes.Contains(got.Stdout, []byte(because)) {
		w.T.Errorf("%s %s was answered %q, want a refusal with %q", r.Agent, r.Payload, got.Stdout, because)
	}
}

// MustPass sends a frame that must be answered with nothing.
func (w *Bench) MustPass(r frame.Request) {
	w.T.Helper()
	if got := w.Send(r); len(got.Stdout) != 0 || got.Exit != 0 || len(got.Stderr) != 0 {
		w.T.Errorf("%s %s was answered %q, want nothing", r.Agent, r.Payload, got.Stdout)
	}
}

// Call runs a method.
func (w *Bench) Call(method string, params, result any) error {
	return w.Client.Call(context.Background(), method, params, result)
}

// MustCall runs a method that must work.
func (w *Bench) MustCall(method string, params, result any) {
	w.T.Helper()
	if err := w.Call(method, params, result); err != nil {
		w.T.Fatalf("%s: %v", method, err)
	}
}

// Rows returns the whole journal, whoever the test plays just now.
func (w *Bench) Rows() []Row {
	w.T.Helper()
	var all []Row
	for after := ""; ; {
		var page wire.QueryResult
		if err := w.daemon.CallMethod(wire.MethodQuery, wire.QueryParams{After: after}, &page); err != nil {
			w.T.Fatal(err)
		}
		for _, e := range page.Entries {
			var r Row
			if err := json.Unmarshal(e.Event, &r); err != nil {
				w.T.Errorf("%s: %v", e.Event, err)
			}
			r.Cursor, r.Outcome = e.Cursor, e.Outcome
			all = append(all, r)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// Row is the part of a stored event that tests look at.
type Row struct {
	ID        string          `json:"id"`
	Agent     string          `json:"agent"`
	Native    string          `json:"native"`
	Kind      string          `json:"kind"`
	Session   string          `json:"session"`
	Nested    bool            `json:"nested"`
	Truncated bool            `json:"truncated"`
	Malformed string          `json:"malformed"`
	Raw       json.RawMessage `json:"raw"`
	Cursor    string          `json:"-"`
	Outcome   *wire.Outcome   `json:"-"`
}

// Verdict returns the verdict of the outcome; empty without one.
func (r *Row) Verdict() string {
	if r.Outcome == nil {
		return ""
	}
	var d event.Decision
	_ = d.UnmarshalJSON(r.Outcome.Decision)
	return d.Verdict.Word()
}

// Row waits until an event is stored, with its outcome if one is expected.
func (w *Bench) Row(id string, decided bool) Row {
	w.T.Helper()
	var found []Row
	w.Eventually("event "+id+" is stored", func() bool {
		found = nil
		for _, r := range w.Rows() {
			if r.ID == id {
				found = append(found, r)
			}
		}
		return len(found) > 0 && (!decided || found[0].Outcome != nil)
	})
	if len(found) != 1 {
		w.T.Errorf("event %s is stored %d times", id, len(found))
	}
	return found[0]
}

// Problem looks for one whose key begins so.
func (w *Bench) Problem(key string) (wire.Problem, bool) {
	w.T.Helper()
	var info wire.Info
	if err := w.daemon.CallMethod(wire.MethodInfo, nil, &info); err != nil {
		w.T.Fatal(err)
	}
	for _, p := range info.Problems {
		if strings.HasPrefix(p.Key, key) {
			return p, true
		}
	}
	return wire.Problem{}, false
}

// Entry makes a hook of a function.
func Entry(t *testing.T, id string, mode hook.Role, kind event.Kind,
	run func(context.Context, *hook.Call) (event.Decision, error)) *hook.Entry {
	t.Helper()
	e, err := hook.NewEntry(hook.Registration{ID: id, Agent: hook.Any, HookType: string(kind), Handler: "builtin",
		Target: "test", Role: mode}, hook.HandlerFunc(run), "test")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// NoDeploys refuses every command that holds the word deploy.
func NoDeploys(t *testing.T) *hook.Entry {
	return Entry(t, "no-deploys", hook.Guard, event.ToolBefore,
		func(_ context.Context, c *hook.Call) (event.Decision, error) {
			if c.Event.Tool != nil && strings.Contains(strings.Join(c.Event.Tool.Commands, "\n"), "deploy") {
				return event.Decision{Verdict: event.Deny, Reason: "no deploys today"}, nil
			}
			return event.Decision{}, nil
		})
}

// Write writes a file with its folder.
func (w *Bench) Write(path, text string) {
	w.T.Helper()
	w.MustWrite(w.T, path, text)
}

// testLog shows the daemon's log when a test fails. The daemon may end after the
// test, when nobody may log any more.
type testLog struct {
	t    *testing.T
	mu   sync.Mutex
	text bytes.Buffer
	hook bool
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hook {
		l.hook = true
		l.t.Cleanup(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.t.Failed() {
				l.t.Logf("the daemon's log:\n%s", l.text.String())
			}
		})
	}
	return l.text.Write(b)
}
