package hub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/paths"
	"github.com/hookmux/hookmux/internal/proc"
	"github.com/hookmux/hookmux/internal/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come; it is never what a
// test measures.
const patience = 20 * time.Second

// Pids that no system gives out, so that they never meet a real process.
const (
	shellPID = 5_000_001
	agentPID = 5_000_002
	hubPID   = 5_000_003
	toolPID  = 5_000_004
)

// The test process is every peer of the hub; these tables say what stands
// above it.
func atTerminal(below ...proctest.Node) *proctest.Table {
	if below == nil {
		below = []proctest.Node{{PID: os.Getpid(), Name: "hookmux"}}
	}
	return proctest.New(proctest.Node{PID: shellPID, Name: "bash", Program: "/usr/bin/bash", Session: true, TTY: "/dev/pts/77", Below: below})
}

func belowAgent(name string) *proctest.Table {
	return atTerminal(proctest.Node{PID: agentPID, Name: name, Program: "/opt/" + name + "/bin/" + name, Below: []proctest.Node{
		{PID: toolPID, Name: "sh", Program: "/usr/bin/sh", Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"}}},
	}})
}

func belowHub() *proctest.Table {
	return atTerminal(proctest.Node{PID: hubPID, Name: "hookmux", Program: "/usr/bin/hookmux", Below: []proctest.Node{
		{PID: agentPID, Name: "claude", Program: "/opt/claude/bin/claude", Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"}}},
	}})
}

// tables is a process table that a test can exchange under a running hub.
type tables struct {
	mu  sync.Mutex
	now *proctest.Table
}

func (t *tables) set(to *proctest.Table) { t.mu.Lock(); t.now = to; t.mu.Unlock() }

func (t *tables) Lookup(pid int) (proc.Process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Lookup(pid)
}

func (t *tables) Program(pid int) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Program(pid)
}

func (t *tables) Args(pid int) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Args(pid)
}

func (t *tables) Environ(pid int) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Environ(pid)
}

// house is a hub with its places.
type house struct {
	t     *testing.T
	base  string
	dirs  paths.Dirs
	table *tables
	h     *Hub
	c     *client.Client
	stop  context.CancelFunc
	ended chan error
}

// newHouse makes places without a hub.
func newHouse(t *testing.T) *house {
	t.Helper()
	t.Parallel()                        // houses have nothing in common, and most tests only wait
	base, err := os.MkdirTemp("", "hm") // short: socket paths have little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"HOME": base + "/home", "XDG_STATE_HOME": base + "/state", "XDG_CONFIG_HOME": base + "/config",
		"XDG_DATA_HOME": base + "/data", "HOOKMUX_RUNTIME_DIR": base + "/run",
	}
	dirs, err := paths.Find(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	dirs.System = base + "/etc"
	for _, dir := range []string{dirs.Home, dirs.Config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := &house{t: t, base: base, dirs: dirs, table: &tables{now: atTerminal()}, c: &client.Client{Socket: dirs.Socket(), Timeout: patience}}
	t.Cleanup(w.down)
	return w
}

// open makes places with a running hub.
func open(t *testing.T, extra ...*hook.Entry) *house {
	t.Helper()
	w := newHouse(t)
	w.up(extra...)
	return w
}

func (w *house) make(extra ...*hook.Entry) {
	w.t.Helper()
	h, err := New(Options{Dirs: w.dirs, Table: w.table, Version: "1.0.0", Extra: extra, Log: &testLog{t: w.t}})
	if err != nil {
		w.t.Fatal(err)
	}
	// The test is the peer and the hub at once; the hub must not take its
	// peers for its own children.
	h.judge.HubPID, h.callers.judge.HubPID = hubPID, hubPID
	w.h = h
}

func (w *house) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h, ended := w.h, make(chan error, 1)
	w.stop, w.ended = cancel, ended
	go func() { ended <- h.Run(ctx) }()
	w.eventually("the hub answers", func() bool {
		_, err := w.c.Info(context.Background())
		return err == nil
	})
}

func (w *house) up(extra ...*hook.Entry) {
	w.t.Helper()
	w.make(extra...)
	w.start()
}

// down stops the hub cleanly.
func (w *house) down() {
	w.t.Helper()
	if w.stop == nil {
		return
	}
	w.stop()
	w.stop = nil
	w.gone()
}

// gone waits for a hub that was told to end.
func (w *house) gone() {
	w.t.Helper()
	select {
	case err := <-w.ended:
		w.stop = nil
		if err != nil {
			w.t.Errorf("the hub ended with %v", err)
		}
	case <-time.After(patience):
		w.t.Fatal("the hub does not end")
	}
}

// stand exchanges the process table.
func (w *house) stand(t *proctest.Table) {
	w.table.set(t)
	c := w.h.callers
	c.mu.Lock()
	clear(c.known)
	clear(c.below)
	c.mu.Unlock()
	if m, ok := c.judge.Table.(*memoTable); ok {
		m.mu.Lock()
		clear(m.known)
		m.mu.Unlock()
	}
}

func (w *house) eventually(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	w.t.Fatalf("never: %s", what)
}

func (w *house) dial() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("unix", w.dirs.Socket())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// ask sends a frame and waits for its reply.
func (w *house) ask(r frame.Request) frame.Reply {
	w.t.Helper()
	reply, err := w.try(r)
	if err != nil {
		w.t.Fatalf("%s %s: no reply: %v", r.Agent, r.Event, err)
	}
	return reply
}

func (w *house) try(r frame.Request) (frame.Reply, error) {
	conn, err := net.Dial("unix", w.dirs.Socket())
	if err != nil {
		return frame.Reply{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if r.ID == "" {
		r.ID = frame.NewID()
	}
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		return frame.Reply{}, err
	}
	reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	if err == nil && reply.ID != r.ID {
		err = errors.New("answered another call")
	}
	return reply, err
}

// before is a call of the shell tool that is about to run, as the agent says
// it.
func before(agent, session, cwd, command string) frame.Request {
	tool, input := "tool_name", "tool_input"
	payload := map[string]any{"session_id": session, "cwd": cwd, "hook_event_name": "PreToolUse", tool: "Bash", input: map[string]string{"command": command}}
	if agent == "grok" {
		payload[tool] = "run_terminal_command"
		payload["hookEventName"], payload["sessionId"], payload["toolName"] = "pre_tool_use", session, "run_terminal_command"
		payload["toolInput"] = payload[input]
	}
	b, _ := json.Marshal(payload)
	return frame.Request{Agent: agent, Event: "PreToolUse", Cwd: cwd, Payload: b, Deadline: patience}
}

func said(agent, name string, more map[string]any) frame.Request {
	payload := map[string]any{"session_id": "s1", "hook_event_name": name}
	for k, v := range more {
		payload[k] = v
	}
	b, _ := json.Marshal(payload)
	return frame.Request{Agent: agent, Event: name, Payload: b, Deadline: patience}
}

// denies reports whether a reply refuses in whichever words.
func denies(r frame.Reply) bool {
	return strings.Contains(string(r.Stdout), `"deny"`) || strings.Contains(string(r.Stdout), `"block"`)
}

func (w *house) mustDeny(r frame.Request, because string) {
	w.t.Helper()
	if got := w.ask(r); !denies(got) || !bytes.Contains(got.Stdout, []byte(because)) {
		w.t.Errorf("%s %s was answered %q, want a refusal with %q", r.Agent, r.Payload, got.Stdout, because)
	}
}

func (w *house) mustPass(r frame.Request) {
	w.t.Helper()
	if got := w.ask(r); len(got.Stdout) != 0 || got.Exit != 0 || len(got.Stderr) != 0 {
		w.t.Errorf("%s %s was answered %q, want nothing", r.Agent, r.Payload, got.Stdout)
	}
}

// call runs a method.
func (w *house) call(method string, params, result any) error {
	return w.c.Call(context.Background(), method, params, result)
}

func (w *house) mustCall(method string, params, result any) {
	w.t.Helper()
	if err := w.call(method, params, result); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
}

// rows is the whole journal.
func (w *house) rows() []row {
	w.t.Helper()
	var all []row
	err := w.c.Query(context.Background(), wire.QueryParams{}, func(e wire.Entry) bool {
		var r row
		if err := json.Unmarshal(e.Event, &r); err != nil {
			w.t.Errorf("%s: %v", e.Event, err)
		}
		r.cursor, r.outcome = e.Cursor, e.Outcome
		all = append(all, r)
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// row is what tests look at of a stored event.
type row struct {
	ID        string          `json:"id"`
	Agent     string          `json:"agent"`
	Native    string          `json:"native"`
	Kind      string          `json:"kind"`
	Session   string          `json:"session"`
	Nested    bool            `json:"nested"`
	Truncated bool            `json:"truncated"`
	Malformed string          `json:"malformed"`
	Raw       json.RawMessage `json:"raw"`
	cursor    string
	outcome   *wire.Outcome
}

func (r *row) verdict() string {
	if r.outcome == nil {
		return ""
	}
	return verdictOf(r.outcome)
}

// row waits until an event is stored, with its outcome if one is expected.
func (w *house) row(id string, decided bool) row {
	w.t.Helper()
	var found []row
	w.eventually("event "+id+" is stored", func() bool {
		found = nil
		for _, r := range w.rows() {
			if r.ID == id {
				found = append(found, r)
			}
		}
		return len(found) > 0 && (!decided || found[0].outcome != nil)
	})
	if len(found) != 1 {
		w.t.Errorf("event %s is stored %d times", id, len(found))
	}
	return found[0]
}

// problem looks for one whose key begins so.
func (w *house) problem(key string) (wire.Problem, bool) {
	w.t.Helper()
	info, err := w.c.Info(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range info.Problems {
		if strings.HasPrefix(p.Key, key) {
			return p, true
		}
	}
	return wire.Problem{}, false
}

// entry makes a hook of a function.
func entry(t *testing.T, id string, mode hook.Mode, kind event.Kind, run func(context.Context, *hook.Call) (event.Decision, error)) *hook.Entry {
	t.Helper()
	e, err := hook.NewEntry(hook.Registration{ID: id, Agent: hook.Any, HookType: string(kind), Handler: "builtin", Target: "test", Mode: mode}, hook.HandlerFunc(run), "test")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// noDeploys refuses every command that holds the word deploy.
func noDeploys(t *testing.T) *hook.Entry {
	return entry(t, "no-deploys", hook.Guard, event.ToolBefore, func(_ context.Context, c *hook.Call) (event.Decision, error) {
		if c.Event.Tool != nil && strings.Contains(strings.Join(c.Event.Tool.Commands, "\n"), "deploy") {
			return event.Decision{Verdict: event.Deny, Reason: "no deploys today"}, nil
		}
		return event.Decision{}, nil
	})
}

func (w *house) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// testLog shows the hub's log when a test fails. The hub may end after the
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
				l.t.Logf("the hub's log:\n%s", l.text.String())
			}
		})
	}
	return l.text.Write(b)
}
