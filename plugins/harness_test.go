package plugins_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
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
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

// fakeDaemon answers frames as a test tells it to.
type fakeDaemon struct {
	dir    string
	answer func(*frame.Request) string

	mu       sync.Mutex
	stop     func()
	requests []frame.Request
	hungUp   int // callers that went before they were answered
	texts    []wire.OutboxText
	polls    []wire.OutboxParams // questions for texts
	wanted   []string            // inner events that hooks listen to
}

// What a fake daemon may do in place of answering.
const (
	silent  = "\x00silent"  // takes the request and says nothing until the caller goes
	dies    = "\x00dies"    // hangs up
	waiting = "\x00waiting" // says that a person is asked, then does what follows
)

// node finds a node to run plugins with, or skips the test and says why.
func node(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on this machine: plugins are not driven")
	}
	return program
}

func newFakeDaemon(t testing.TB, answer func(*frame.Request) string) *fakeDaemon {
	t.Helper()
	h := &fakeDaemon{dir: sandbox.TempDir(t), answer: answer}
	h.listen(t)
	t.Cleanup(h.close)
	return h
}

func (h *fakeDaemon) listen(t testing.TB) {
	t.Helper()
	stop, err := sandbox.ServeSocket(filepath.Join(h.dir, "daemon.sock"), h.serve)
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.stop = stop
	h.mu.Unlock()
}

func (h *fakeDaemon) close() {
	h.mu.Lock()
	stop := h.stop
	h.mu.Unlock()
	stop()
}

func (h *fakeDaemon) serve(conn net.Conn) {
	br := bufio.NewReader(conn)
	if start, _ := br.Peek(10); string(start) == `{"jsonrpc"` {
		h.servePoll(conn, br)
		return
	}
	r, err := frame.ReadRequest(br, nil, frame.Limits{})
	if err != nil {
		return
	}
	h.mu.Lock()
	h.requests = append(h.requests, r)
	// For the harness, which waits for it.
	_ = os.WriteFile(filepath.Join(h.dir, fmt.Sprintf("got-%d", len(h.requests))), nil, 0o600)
	h.mu.Unlock()
	var text string
	if h.answer != nil {
		text = h.answer(&r)
	}
	if rest, ok := strings.CutPrefix(text, waiting); ok {
		_, _ = conn.Write(frame.AppendWaiting(nil, r.ID, "req-1", "it writes", nil))
		text = rest
		if text != silent {
			time.Sleep(100 * time.Millisecond) // a person takes longer
		}
	}
	switch text {
	case dies:
		return
	case silent:
		_, _ = conn.Read(make([]byte, 1))
		h.mu.Lock()
		h.hungUp++
		h.mu.Unlock()
		return
	}
	_, _ = conn.Write(frame.AppendReply(nil, &frame.Reply{ID: r.ID, Stdout: []byte(text)}))
}

// servePoll hands out texts as the daemon does.
func (h *fakeDaemon) servePoll(conn net.Conn, br *bufio.Reader) {
	var request struct {
		Method string
		Params wire.OutboxParams
	}
	line, err := br.ReadBytes('\n')
	if err != nil {
		return
	}
	var asked struct {
		Method string
		Params wire.WantedParams
	}
	if json.Unmarshal(line, &asked) == nil && asked.Method == wire.MethodWanted {
		h.serveWanted(conn, asked.Params)
		return
	}
	if json.Unmarshal(line, &request) != nil || request.Method != wire.MethodOutbox {
		return
	}
	h.mu.Lock()
	h.polls = append(h.polls, request.Params)
	_ = os.WriteFile(filepath.Join(h.dir, fmt.Sprintf("poll-%d", len(h.polls))), nil, 0o600)
	texts := h.texts
	h.texts = nil
	h.mu.Unlock()
	if len(texts) == 0 {
		_, _ = conn.Read(make([]byte, 1)) // until the caller goes
		return
	}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": wire.OutboxResult{Texts: texts}})
	_, _ = conn.Write(append(b, '\n'))
}

// serveWanted says which inner events hooks listen to, and waits for a change
// that never comes.
func (h *fakeDaemon) serveWanted(conn net.Conn, p wire.WantedParams) {
	if p.Wait > 0 && slices.Equal(p.Known, h.wanted) {
		_, _ = conn.Read(make([]byte, 1))
		return
	}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1,
		"result": wire.WantedResult{Events: append([]string{}, h.wanted...), Known: append([]string{}, h.wanted...)}})
	_, _ = conn.Write(append(b, '\n'))
}

// all returns the requests that came in, in order.
func (h *fakeDaemon) all() []frame.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]frame.Request(nil), h.requests...)
}

// heard returns the names of the events that came in, in order.
func (h *fakeDaemon) heard() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, r := range h.requests {
		names = append(names, r.Event)
	}
	return strings.Join(names, " ")
}

// payload returns what the n-th event of a name said.
func (h *fakeDaemon) payload(t testing.TB, name string, n int) map[string]any {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.requests {
		if r.Event != name {
			continue
		}
		if n > 0 {
			n--
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(r.Payload, &got); err != nil {
			t.Fatalf("%s: %v in %q", name, err, r.Payload)
		}
		return got
	}
	t.Fatalf("%s did not come; heard %v", name, len(h.requests))
	return nil
}

// events returns those of a kind, as the catalogue reads them: what the plugin
// sends and what the catalogue expects is one contract.
func (h *fakeDaemon) events(t testing.TB, kind event.Kind) []event.Event {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []event.Event
	for _, r := range h.requests {
		ev := agent.Builtin().Decode(agent.Input{Agent: r.Agent, Event: r.Event, Payload: r.Payload, Cwd: r.Cwd})
		if ev.Malformed != "" || ev.Native != r.Event {
			t.Errorf("%s was read as %s %s: %s", r.Event, ev.Native, ev.Malformed, r.Payload)
		}
		if ev.Kind == kind {
			out = append(out, ev)
		}
	}
	return out
}

// played is printed by the harness.
type played struct {
	Hooks []string
	// Subscribed lists what it listened to when it was looked at.
	Subscribed []string
	Unhandled  string
	Notices    []string
	Client     []struct {
		Name string
		Args json.RawMessage
	}
	Calls []struct {
		As       string
		Threw    string
		Returned json.RawMessage
		Output   json.RawMessage
		Event    json.RawMessage
		MS       int
	}
}

// call finds what came of a call by its name.
func (p *played) call(t testing.TB, as string) (threw, returned, output, event string) {
	t.Helper()
	for _, c := range p.Calls {
		if c.As == as {
			return c.Threw, string(c.Returned), string(c.Output), string(c.Event)
		}
	}
	t.Fatalf("%s was not called", as)
	return
}

func (p *played) clientCalls() string {
	var all []string
	for _, c := range p.Client {
		all = append(all, c.Name+" "+string(c.Args))
	}
	return strings.Join(all, "\n")
}

// step is one line of a scenario.
type step map[string]any

// play drives the plugin of the agent of that name through steps with a daemon in dir.
func play(t testing.TB, name, dir string, o plugins.Options, env []string, steps ...step) *played {
	t.Helper()
	program := node(t)
	o.Version = "0.0.0-test"
	source, err := plugins.Render(strings.TrimSuffix(name, "2"), o) // opencode2 loads OpenCode's
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, "plugin.mjs") // so that node reads it as a module
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	harness, err := filepath.Abs("testdata/harness.mjs")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, harness, name, file, string(script))
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HOOKMUX_RUNTIME_DIR=" + dir,
		"MARK=in the environment"}, env...)
	cmd.Dir = home
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("error %v, stdout.Bytes() = %s, stderr.Bytes() = %s; want no error",
			err, stdout.Bytes(), stderr.Bytes())
	}
	var p played
	if err := json.Unmarshal(stdout.Bytes(), &p); err != nil {
		t.Fatalf("%v in %q %s", err, stdout.Bytes(), stderr.Bytes())
	}
	if p.Unhandled != "" {
		t.Errorf("a rejection nobody handled, which ends an agent: %s", p.Unhandled)
	}
	return &p
}

// answers gives each event its answer, the rest none.
func answers(table map[string]string) func(*frame.Request) string {
	return func(r *frame.Request) string { return table[r.Event] }
}

func writeFile(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// isTrue reports whether a value of a payload is JSON's true.
func isTrue(value any) bool {
	is, _ := value.(bool)
	return is
}
