package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// far is another machine: a server with made-up sessions and requests.
type far struct {
	server  *Server
	journal *journal.Journal

	mu       sync.Mutex
	sessions []wire.Session
	requests []wire.InboxRequest
	changed  chan struct{}
	answers  []wire.InboxReplyParams
	signed   []ledger.Signature
	watching int
	used     wire.UsageReport
}

func newFar(t *testing.T) *far {
	f := &far{changed: make(chan struct{})}
	deps := newDeps(t)
	f.journal = openJournal(t, deps.Dirs.State)
	f.server = NewServer(ServerOptions{Deps: deps, Version: "1.2.3", Requests: f, Daemon: f, Journal: journalOf{f.journal}})
	f.server.Devices = devices.Open(f.server.Deps)
	f.sessions = []wire.Session{{ID: "s-1", Agent: "claude", Status: wire.StatusRunning, Title: "fix the tests"}}
	return f
}

func newDeps(t *testing.T) services.Deps {
	t.Helper()
	state := t.TempDir() // removed after everything ended
	background := new(services.Background)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if !background.Wait(ctx) {
			t.Error("something still runs 10 s after everything was ended")
		}
	})
	return services.Deps{Dirs: paths.Dirs{State: state}, Log: slog.New(slog.DiscardHandler), Background: background,
		Problems: services.NewProblems(nil)}
}

// change changes what there is.
func (f *far) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *far) WaitingRedacted() []wire.InboxRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]wire.InboxRequest{}, f.requests...)
}

func (f *far) OwnSessions() []wire.Session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]wire.Session{}, f.sessions...)
}

func (f *far) FollowChanges(ctx context.Context, each func()) {
	for ctx.Err() == nil {
		f.mu.Lock()
		changed := f.changed
		f.mu.Unlock()
		each()
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

func (f *far) FollowSessions(ctx context.Context, _ func([]byte) bool) { <-ctx.Done() }

func (f *far) RecordDevice(string, wire.WebDevice) {}

func (f *far) Call(_ context.Context, method string, params json.RawMessage) (any, *wire.Error) {
	if method == wire.MethodUsage {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.used, nil
	}
	return wire.SessionDetail{Session: f.OwnSessions()[0]}, nil
}

func (f *far) ReplySigned(p wire.InboxReplyParams, device string, signed ledger.Signature) (wire.InboxReplyResult,
	*wire.Error) {
	result := wire.InboxReplyResult{ID: p.ID, Outcome: wire.ReplyUnknown}
	f.change(func() {
		f.answers, f.signed = append(f.answers, p), append(f.signed, signed)
		for i, one := range f.requests {
			if one.ID == p.ID {
				one.Status = wire.InboxResolved
				f.requests = append(f.requests[:i:i], f.requests[i+1:]...)
				result.Outcome, result.By, result.Item = wire.ReplyDelivered, device, &one
				return
			}
		}
	})
	return result, nil
}

func (f *far) CheckText(string, string) *wire.Error { return nil }

func (f *far) Watch() (left func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.watching--
	}
}

func (f *far) isWatched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watching > 0
}

// serve answers what comes over a connection, as remote-serve and the daemon do.
func (f *far) serve(ctx context.Context, conn net.Conn) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer conn.Close()
	var writing sync.Mutex
	send := func(line []byte) bool {
		writing.Lock()
		defer writing.Unlock()
		_, err := conn.Write(line)
		return err == nil
	}
	reader := bufio.NewReader(conn)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		var request wire.Request
		if json.Unmarshal(line, &request) != nil {
			return
		}
		go func() {
			f.answer(ctx, &request, send)
			if request.Method == wire.MethodRemoteFollow { // the link ends with its stream
				_ = conn.Close()
			}
		}()
	}
}

func (f *far) answer(ctx context.Context, request *wire.Request, send func([]byte) bool) {
	var result any
	var bad *wire.Error
	switch request.Method {
	case wire.MethodRemoteFollow:
		stream, refused := f.server.Open(request.Params, proc.Cred{})
		if refused == nil {
			stream(ctx, request.ID, send)
			return
		}
		bad = refused
	case wire.MethodRemoteHello:
		result, bad = f.server.helloMethod(request.Params, proc.Cred{})
	case wire.MethodRemoteCall:
		result, bad = f.server.callMethod(ctx, request.Params, proc.Cred{})
	case wire.MethodRemoteAnswer:
		result, bad = f.server.answerMethod(ctx, request.Params, proc.Cred{})
	}
	b, _ := json.Marshal(result)
	response, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: request.ID, Result: b, Error: bad})
	send(response)
}

// pipe is a connection in memory, as ssh is one.
type pipe struct{ net.Conn }

func (pipe) Why() string { return "cut by the test" }
func (pipe) PID() int    { return 0 }

// near is this machine, with one host.
type near struct {
	*Connector
	ctx  context.Context
	stop context.CancelFunc
	// serve plays the other machine.
	mu    sync.Mutex
	serve func(ctx context.Context, conn net.Conn)
	conns []net.Conn

	told     []wire.SessionChange
	notes    []string
	attended bool
}

func newNear(t *testing.T, serve func(ctx context.Context, conn net.Conn)) *near {
	t.Helper()
	return newNearIn(t, newDeps(t), serve)
}

func newNearIn(t *testing.T, deps services.Deps, serve func(ctx context.Context, conn net.Conn)) *near {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	n := &near{ctx: ctx, stop: end, serve: serve}
	hosts := fleet.New(fleet.Options{Background: deps.Background,
		SessionChanged: func(c wire.SessionChange) { n.mu.Lock(); n.told = append(n.told, c); n.mu.Unlock() },
		RequestChanged: func(note string, item wire.InboxRequest) {
			n.mu.Lock()
			n.notes = append(n.notes, note+" "+item.ID)
			n.mu.Unlock()
		},
		Attended: func() bool { n.mu.Lock(); defer n.mu.Unlock(); return n.attended }})
	n.Connector = NewConnector(ConnectorOptions{Deps: deps, Context: ctx, Hosts: hosts})
	n.dial = func(context.Context, *host) (conn, error) {
		here, there := net.Pipe()
		n.mu.Lock()
		defer n.mu.Unlock()
		n.conns = append(n.conns, here)
		serve := n.serve
		deps.Background.Go(func() { serve(ctx, there) })
		return pipe{here}, nil
	}
	return n
}

// add adds the host "build", which accepts this machine's key.
func (n *near) add(t *testing.T, f *far, scope string) {
	t.Helper()
	result, bad := n.addMethod(mustJSON(wire.RemoteAddParams{Name: "build", Target: "u@build", Scope: scope}), proc.Cred{})
	if bad != nil {
		t.Fatal(bad)
	}
	if f == nil {
		return
	}
	if _, bad := f.server.acceptMethod(mustJSON(wire.RemoteAcceptParams{Key: result.(wire.RemoteAdded).Key, Name: "me@laptop",
		Scope: scope}), proc.Cred{}); bad != nil {
		t.Fatal(bad)
	}
	n.awaitState(t, wire.HostConnected)
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func (n *near) host() wire.Host {
	list := n.Hosts.List()
	if len(list) != 1 {
		return wire.Host{State: fmt.Sprintf("%d hosts", len(list))}
	}
	return list[0]
}

func (n *near) awaitState(t *testing.T, state string) {
	t.Helper()
	await.Until(t, "the host is "+state, func() bool {
		poke(n.links["build"].retry)
		return n.host().State == state
	})
}

// cut cuts the link, as a network does.
func (n *near) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		_ = c.Close()
	}
	n.conns = nil
}

func request(id, command string) wire.InboxRequest {
	shown := "Claude wants to run a command\n  $ " + command + "\n"
	sum := sha256.Sum256([]byte(shown))
	return wire.InboxRequest{ID: id, Status: wire.InboxPending, Kind: "permission", Agent: "claude", Session: "s-1", Tool: "Bash",
		Choices: []string{"once", "deny"}, Shown: shown, SHA256: hex.EncodeToString(sum[:]), CreatedAt: time.Now()}
}

func TestAnsweredOnAnotherMachine(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeAnswer)
	one := request("kw4m", "make")
	one.Choices = []string{"once", "all", "deny", "bypass"}
	f.change(func() { f.requests = append(f.requests, one) })
	await.Until(t, "the request is here", func() bool { return len(n.Hosts.Waiting()) == 1 })
	got := n.Hosts.Waiting()[0]
	if !slices.Equal(got.Choices, []string{"once", "deny"}) {
		t.Errorf("the choices are %v, want those that can be made from here", got.Choices)
	}
	if got.ID != "build/kw4m" || got.Host != "build" || got.Session != "build/s-1" || got.Shown != one.Shown {
		t.Errorf("the request is %+v, want build/kw4m of the session build/s-1 as it was asked", got)
	}
	if list := n.Hosts.Sessions(false); len(list) != 1 || list[0].ID != "build/s-1" {
		t.Errorf("the sessions are %+v, want build/s-1", list)
	}
	if item, _ := n.Hosts.Find("kw4"); item.ID != "build/kw4m" {
		t.Errorf("kw4 finds %q, want build/kw4m", item.ID)
	}
	result, bad := n.Hosts.Reply(t.Context(), wire.InboxReplyParams{ID: "build/kw4m", Choice: "once", SHA256: one.SHA256}, "me")
	if bad != nil || result.Outcome != wire.ReplyDelivered || result.ID != "build/kw4m" {
		t.Fatalf("the answer came to %+v, %v; want it delivered", result, bad)
	}
	if f.answers[0].ID != "kw4m" || f.answers[0].Choice != "once" || f.signed[0].Device != n.links["build"].identity.device ||
		!strings.Contains(f.signed[0].Message, "shown "+one.SHA256) {
		t.Errorf("the other machine heard %+v, signed %+v; want once for kw4m as it was shown", f.answers, f.signed)
	}
	await.Until(t, "those who watch are told", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return len(n.notes) == 2 && n.notes[0] == "inbox.received build/kw4m" && n.notes[1] == "inbox.resolved build/kw4m"
	})
}

func TestLookingIsToldAndEndsWithTheLink(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeAnswer)
	if f.isWatched() {
		t.Error("somebody looks there, want none before somebody looks here")
	}
	n.mu.Lock()
	n.attended = true
	n.mu.Unlock()
	await.Until(t, "agents there wait", f.isWatched)
	n.mu.Lock()
	n.serve = func(_ context.Context, conn net.Conn) { _ = conn.Close() } // it can't be reached
	n.mu.Unlock()
	f.change(func() { f.requests = append(f.requests, request("kw4m", "make")) })
	await.Until(t, "the request is here", func() bool { return len(n.Hosts.Waiting()) == 1 })
	cut := time.Now()
	n.cut()
	await.Until(t, "agents there wait no more", func() bool { return !f.isWatched() })
	if took := time.Since(cut); took > attendLasts/2 {
		t.Errorf("agents there waited %s for somebody who can't answer", took)
	}
	await.Until(t, "the link is lost", func() bool { return n.host().State == wire.HostLost })
	if waiting := n.Hosts.Waiting(); len(waiting) > 0 {
		t.Errorf("%d requests wait over a lost link, want none: their agents ask themselves", len(waiting))
	}
	one := n.Hosts.Sessions(false)[0]
	if one.Status != wire.StatusUnknown || one.HostLost == nil {
		t.Errorf("the session is %s, want unknown, with since when the link is lost", one.Status)
	}
	if _, bad := n.Hosts.Reply(t.Context(), wire.InboxReplyParams{ID: "build/kw4m", Choice: "once"}, "me"); bad == nil {
		t.Error("an answer over a lost link was taken, want it refused")
	}

	// Meanwhile things went on there. They are told once when the link is back.
	f.change(func() { f.sessions[0].Status = wire.StatusDone; f.requests = nil })
	n.mu.Lock()
	n.serve, n.told = f.serve, nil
	n.mu.Unlock()
	n.awaitState(t, wire.HostConnected)
	await.Until(t, "the session is done", func() bool { return n.Hosts.Sessions(false)[0].Status == wire.StatusDone })
	await.Until(t, "that's told", func() bool { n.mu.Lock(); defer n.mu.Unlock(); return len(n.told) > 0 })
	if len(n.told) != 1 {
		t.Errorf("%d changes were told, want one: %+v", len(n.told), n.told)
	}
}

// What another machine may not do with answers, whoever brings them: another key, a second
// time, for a request that changed, from a machine that may only read or was removed.
func TestAnswersThatDoNotCount(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeAnswer)
	one := request("kw4m", "make")
	f.change(func() { f.requests = append(f.requests, one) })
	await.Until(t, "the request is here", func() bool { return len(n.Hosts.Waiting()) == 1 })
	own := n.links["build"].identity
	p := wire.InboxReplyParams{ID: "kw4m", Choice: "once", SHA256: one.SHA256}
	send := func(device string, in *devices.SignedAnswer) *wire.Error {
		_, bad := f.server.answerMethod(t.Context(), mustJSON(wire.RemoteAnswerParams{Device: device, Answer: mustJSON(in)}), proc.Cred{})
		return bad
	}
	signed := func(id *identity, instance string, at time.Time) *devices.SignedAnswer {
		in, err := signAnswer(id, instance, at, p)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	instance := f.server.instance
	other := newNear(t, f.serve)
	other.add(t, nil, wire.ScopeAnswer)
	stranger := other.links["build"].identity
	stolen := *stranger
	stolen.device = own.device
	changed := signed(own, instance, time.Now())
	changed.Answer = strings.Replace(changed.Answer, "kw4m", "zzzz", 1)
	elsewhere := p
	elsewhere.ID = "c/kw4m"
	third, err := signAnswer(own, instance, time.Now(), elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]struct {
		device string
		in     *devices.SignedAnswer
	}{
		"a machine that isn't paired":  {stranger.device, signed(stranger, instance, time.Now())},
		"another key":                  {own.device, signed(&stolen, instance, time.Now())},
		"an earlier run of the daemon": {own.device, signed(own, strings.Repeat("0", 32), time.Now())},
		"two minutes ago":              {own.device, signed(own, instance, time.Now().Add(-2*time.Minute))},
		"another request":              {own.device, changed},
		"a third machine's request":    {own.device, third},
		"no signature":                 {own.device, &devices.SignedAnswer{Answer: string(mustJSON(p)), Nonce: strings.Repeat("n", 16)}},
	} {
		if bad := send(try.device, try.in); bad == nil || len(f.answers) > 0 {
			t.Errorf("%s: the answer counts (%v), want it refused", name, f.answers)
		}
	}
	if _, bad := n.Hosts.Reply(t.Context(), wire.InboxReplyParams{ID: "build/kw4m", Choice: "once", SHA256: "another"}, "me"); bad == nil {
		t.Error("an answer to what isn't shown was sent, want it refused here")
	}
	twice := signed(own, instance, time.Now())
	if bad := send(own.device, twice); bad != nil {
		t.Fatalf("the answer is refused (%v), want it taken the first time", bad)
	}
	if bad := send(own.device, twice); bad == nil || len(f.answers) != 1 {
		t.Errorf("the same answer was taken %d times, want once", len(f.answers))
	}
	if err := f.server.Devices.Update(own.device, func(d *devices.Device) { d.Scope = wire.ScopeRead }); err != nil {
		t.Fatal(err)
	}
	if bad := send(own.device, signed(own, instance, time.Now())); bad == nil {
		t.Error("a machine that may only read answered, want it refused")
	}
	if err := f.server.Devices.Drop(own.device); err != nil {
		t.Fatal(err)
	}
	if bad := send(own.device, signed(own, instance, time.Now())); bad == nil {
		t.Error("a machine that was removed answered, want it refused")
	}
}

// Who can only read sees everything and answers nothing.
func TestReadOnlyHost(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	f.change(func() { f.requests = append(f.requests, request("kw4m", "make")) })
	await.Until(t, "the request is here", func() bool { return len(n.Hosts.Waiting()) == 1 })
	if item := n.Hosts.Waiting()[0]; len(item.Choices) > 0 || !strings.Contains(item.Note, "read-only") {
		t.Errorf("the request offers %v (%s), want nothing to choose and why", item.Choices, item.Note)
	}
	if _, bad := n.Hosts.Reply(t.Context(), wire.InboxReplyParams{ID: "build/kw4m", Choice: "once"}, "me"); bad == nil ||
		bad.Code != wire.CodeRefused {
		t.Errorf("the answer came to %v, want it refused", bad)
	}
	if list := n.Hosts.Sessions(true); len(list) == 0 || !list[0].HostReadOnly {
		t.Errorf("the sessions are %+v, want them marked as read-only", list)
	}
	d, bad := n.Hosts.Session(t.Context(), "build/s-1")
	if bad != nil || d.ID != "build/s-1" || d.Title != "fix the tests" {
		t.Errorf("the session is %+v, %v; want it in full", d, bad)
	}
}

// A machine that does what no honest one does is hung up on and named, and nothing of it
// is shown.
func TestHostileHost(t *testing.T) {
	note := func(method string, params any) string {
		return string(mustJSON(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})) + "\n"
	}
	session := func(change func(*wire.Session)) string {
		one := wire.Session{ID: "s-1", Agent: "claude", Status: wire.StatusRunning}
		change(&one)
		return note(wire.NoteRemoteSession, one)
	}
	asked := func(change func(*wire.InboxRequest)) string {
		one := request("kw4m", "make")
		change(&one)
		return note(wire.NoteRemoteRequest, one)
	}
	for name, sends := range map[string]string{
		"escape sequences in a title":     session(func(s *wire.Session) { s.Title = "\x1b[2Jfine" }),
		"an escape sequence in an id":     session(func(s *wire.Session) { s.ID = "s\x1b]0;x\a" }),
		"an id that reads backwards":      session(func(s *wire.Session) { s.ID = "s\u202e1" }),
		"no id":                           session(func(s *wire.Session) { s.ID = "" }),
		"a session of another host":       session(func(s *wire.Session) { s.Host = "laptop" }),
		"a status that isn't one":         session(func(s *wire.Session) { s.Status = "approved" }),
		"an escape sequence in a card":    asked(func(r *wire.InboxRequest) { r.Shown = "rm -rf ~\x1b[1Als" }),
		"an escape sequence in the input": asked(func(r *wire.InboxRequest) { r.Input = json.RawMessage(`{"command":"\u0007` + "\x7f" + `"}`) }),
		"a request that is answered":      asked(func(r *wire.InboxRequest) { r.Status = wire.InboxResolved }),
		"a request of another host":       asked(func(r *wire.InboxRequest) { r.Host = "laptop" }),
		"a kind that isn't one":           asked(func(r *wire.InboxRequest) { r.Kind = "fact" }),
		"no JSON":                         "hello\n",
		"a line without an end":           strings.Repeat("x", maxLine+1),
		"too many sessions":               strings.Join(repeat(fleet.MaxSessions+1, func(i int) string { return session(func(s *wire.Session) { s.ID = fmt.Sprint(i) }) }), ""),
		"too many requests":               strings.Join(repeat(fleet.MaxRequests+1, func(i int) string { return asked(func(r *wire.InboxRequest) { r.ID = fmt.Sprint(i) }) }), ""),
		"a time that no JSON has":         session(func(s *wire.Session) { s.LastEvent = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }),
		"a time before all":               asked(func(r *wire.InboxRequest) { r.CreatedAt = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"too much of it": strings.Join(repeat(3*fleet.MaxBytes>>20, func(i int) string {
			return session(func(s *wire.Session) { s.ID, s.Title = fmt.Sprint(i), strings.Repeat("x", 1<<20) })
		}), ""),
		"a flood": strings.Repeat(note(wire.NoteRemoteBeat, 1), lineBurst+2000),
	} {
		t.Run(name, func(t *testing.T) {
			n := newNear(t, func(_ context.Context, conn net.Conn) {
				defer conn.Close()
				reader := bufio.NewReader(conn)
				for _, result := range []any{wire.RemoteHello{Protocol: 1, Oldest: 1, Version: "1", Instance: strings.Repeat("0", 32),
					Clock: time.Now().UnixMilli()}, true} {
					line, err := reader.ReadBytes('\n')
					var request wire.Request
					if err != nil || json.Unmarshal(line, &request) != nil {
						return
					}
					response, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: request.ID, Result: mustJSON(result)})
					_, _ = conn.Write(response)
				}
				_, _ = io.WriteString(conn, sends+note(wire.NoteRemoteReady, struct{}{}))
				_, _ = io.Copy(io.Discard, conn)
			})
			n.add(t, nil, wire.ScopeAnswer)
			await.Until(t, "it's hung up on", func() bool { return n.host().State == wire.HostRefused })
			if h := n.host(); !strings.Contains(h.Why, "broke the rules") {
				t.Errorf("why: %q, want that it broke the rules of the link", h.Why)
			}
			problems := n.Problems.All()
			if len(problems) != 1 || !strings.Contains(problems[0].What, "build (u@build)") {
				t.Errorf("the problems are %+v, want one that names build", problems)
			}
			if s, r := n.Hosts.Sessions(true), n.Hosts.Waiting(); len(s) > 0 || len(r) > 0 {
				t.Errorf("%v and %v are shown, want nothing of it", s, r)
			}
			if _, bad := n.removeMethod(mustJSON(wire.RemoteNameParams{Name: "build"}), proc.Cred{}); bad != nil {
				t.Fatal(bad)
			}
			if problems := n.Problems.All(); len(problems) > 0 {
				t.Errorf("removing the machine leaves the problems %+v", problems)
			}
		})
	}
}

func repeat(n int, one func(i int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = one(i)
	}
	return out
}

// A clock that is an hour off changes nothing: what is signed has that machine's time, and
// what is shown this one's.
func TestClockThatIsOff(t *testing.T) {
	f := newFar(t)
	h := host{Name: "build", Scope: wire.ScopeAnswer, Added: time.Now()}
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeAnswer)
	l := newLink(h, n.links["build"].identity, nil, n.Deps, n.copies)
	l.offset = time.Hour
	talk := &talk{fresh: newSnapshot()}
	at := time.Now().Add(-time.Hour)
	one := request("kw4m", "make")
	one.CreatedAt = at
	if err := l.take(talk, wire.NoteRemoteRequest, mustJSON(one)); err != nil {
		t.Fatal(err)
	}
	if got := talk.fresh.requests["kw4m"].CreatedAt; got.Sub(at.Add(time.Hour)).Abs() > time.Second {
		t.Errorf("asked at %s, want it an hour later: %s", got, at.Add(time.Hour))
	}
}

// Two machines use the newest version that both speak; where there's none, both say so.
func TestOtherVersions(t *testing.T) {
	f := newFar(t)
	n := newNear(t, func(ctx context.Context, conn net.Conn) {
		f.serve(ctx, newerHello{conn})
	})
	n.add(t, f, wire.ScopeAnswer) // it connects
	by, err := n.links["build"].identity.sign(purposeFollow, f.server.instance, "", wire.RemoteProtocol, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	by.Protocol = wire.RemoteProtocol + 1
	if _, bad := f.server.Open(mustJSON(by), proc.Cred{}); bad == nil || !strings.Contains(bad.Message, "upgrade the older one") {
		t.Errorf("the far side says %v, want what to upgrade", bad)
	}
	newer := newNear(t, func(_ context.Context, conn net.Conn) {
		defer conn.Close()
		line, err := bufio.NewReader(conn).ReadBytes('\n')
		var request wire.Request
		if err != nil || json.Unmarshal(line, &request) != nil {
			return
		}
		response, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: request.ID, Result: mustJSON(wire.RemoteHello{
			Protocol: wire.RemoteProtocol + 2, Oldest: wire.RemoteProtocol + 1, Instance: strings.Repeat("0", 32)})})
		_, _ = conn.Write(response)
		_, _ = io.Copy(io.Discard, conn)
	})
	newer.add(t, nil, wire.ScopeAnswer)
	await.Until(t, "the near side says what to upgrade", func() bool {
		return newer.host().State == wire.HostRefused && strings.Contains(newer.host().Why, "upgrade the older one")
	})
}

// newerHello makes what a machine says about its version that of the next one, which still speaks
// this one.
type newerHello struct{ net.Conn }

func (c newerHello) Write(b []byte) (int, error) {
	mine := fmt.Sprintf(`"protocol":%d,"oldest"`, wire.RemoteProtocol)
	next := fmt.Sprintf(`"protocol":%d,"oldest"`, wire.RemoteProtocol+1)
	_, err := c.Conn.Write(bytes.Replace(b, []byte(mine), []byte(next), 1))
	return len(b), err
}

func TestRemoveForgetsOnBothSides(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeAnswer)
	f.change(func() { f.requests = append(f.requests, request("kw4m", "make")) })
	await.Until(t, "the request is here", func() bool { return len(n.Hosts.Waiting()) == 1 })
	id, instance := n.links["build"].identity, f.server.instance
	result, bad := n.removeMethod(mustJSON(wire.RemoteNameParams{Name: "build"}), proc.Cred{})
	if bad != nil || !result.(wire.RemoteRemoved).Left {
		t.Fatalf("removed: %+v, %v; want the other machine told", result, bad)
	}
	n.mu.Lock()
	if last := n.told[len(n.told)-1]; !last.Gone || !slices.Contains(n.notes, "inbox.withdrawn build/kw4m") {
		t.Errorf("those who watch are told %+v and %v, want the session gone and the request withdrawn", last, n.notes)
	}
	n.mu.Unlock()
	if links := f.server.Links(id.device); links > 0 {
		t.Errorf("%d links are still open there", links)
	}
	by, err := id.sign(purposeFollow, instance, "", wire.RemoteProtocol, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, bad := f.server.Open(mustJSON(by), proc.Cred{}); bad == nil || bad.Code != wire.CodeRefused {
		t.Errorf("the deleted key opens a link: %v", bad)
	}
	if list := f.server.Devices.List(); len(list) > 0 {
		t.Errorf("the other machine still knows %+v", list)
	}
	again := NewConnector(ConnectorOptions{Deps: n.Deps, Context: n.ctx, Hosts: n.Hosts})
	if len(again.list) > 0 || len(n.Hosts.List()) > 0 || len(n.links) > 0 {
		t.Errorf("the host is still there: %v on disk, %v on the list, %v linked", again.list, n.Hosts.List(), n.links)
	}
}

// A machine that asks to be forgotten, and doesn't hang up, is hung up on.
func TestRemovedMachineIsHungUpOn(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	one := n.links["build"]
	if bad := one.leave(t.Context()); bad != nil {
		t.Fatal(bad)
	}
	await.Until(t, "the link is ended", func() bool { return f.server.Links(one.identity.device) == 0 })
}

// Removing this machine's key there ends the link at once, and nothing of that machine is shown.
func TestRemovedKeyEndsTheLink(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeAnswer)
	f.change(func() { f.requests = []wire.InboxRequest{request("kw4m", "make")} })
	await.Until(t, "the request is here", func() bool { return len(n.Hosts.Waiting()) == 1 })
	device := n.links["build"].identity.device
	if err := f.server.Devices.Drop(device); err != nil {
		t.Fatal(err)
	}
	f.server.EndLinks(device)
	await.Until(t, "the link is refused", func() bool { poke(n.links["build"].retry); return n.host().State == wire.HostRefused })
	if h := n.host(); !strings.Contains(h.Why, "isn't paired") || len(n.Hosts.Waiting()) > 0 || f.server.Links(device) > 0 {
		t.Errorf("the link is %+v with %v, want it refused and nothing that waits", h, n.Hosts.Waiting())
	}
}

// A name that a machine of the fleet has is refused, and nothing is kept.
func TestTakenName(t *testing.T) {
	n := newNear(t, nil)
	other := newNear(t, func(_ context.Context, conn net.Conn) { _ = conn.Close() })
	other.add(t, nil, wire.ScopeRead)
	if err := n.Hosts.Add(n.ctx, other.links["build"].link); err != nil {
		t.Fatal(err)
	}
	if _, bad := n.addMethod(mustJSON(wire.RemoteAddParams{Name: "build", Target: "u@build", Scope: wire.ScopeRead}), proc.Cred{}); bad == nil ||
		bad.Code != wire.CodeConflict {
		t.Errorf("a second build: %v, want it refused", bad)
	}
	again := newNearIn(t, n.Deps, nil)
	if again.Copies("") || n.Copies("") {
		t.Error("the host that was refused is on the list")
	}
}

// A machine that is gone is removed all the same.
func TestRemoveWithoutTheOtherSide(t *testing.T) {
	n := newNear(t, func(_ context.Context, conn net.Conn) { _ = conn.Close() })
	n.add(t, nil, wire.ScopeAnswer)
	result, bad := n.removeMethod(mustJSON(wire.RemoteNameParams{Name: "build"}), proc.Cred{})
	if removed, _ := result.(wire.RemoteRemoved); bad != nil || removed.Left || removed.Why == "" || removed.Device == "" {
		t.Errorf("removed: %+v, %v; want it gone here, why it isn't there, and what to remove there", result, bad)
	}
	if len(n.Hosts.List()) > 0 || len(n.list) > 0 {
		t.Error("the host is still on the list")
	}
}

func TestTargets(t *testing.T) {
	for _, good := range []string{"build", "me@build.example.org", "me@[fe80::1%eth0]", "10.0.0.1"} {
		if err := CheckTarget(good); err != nil {
			t.Errorf("%s: %v, want it taken", good, err)
		}
	}
	for _, bad := range []string{"", "-oProxyCommand=x", "a b", "a;b", "$(x)", "a\nb", "@x", strings.Repeat("a", 300)} {
		if CheckTarget(bad) == nil {
			t.Errorf("%q is taken for a host, want it refused", bad)
		}
	}
}

func TestSignatureIsOfOnePurpose(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeAnswer)
	id := n.links["build"].identity
	call := `{"method":"leave"}`
	by, err := id.sign(purposeFollow, f.server.instance, call, wire.RemoteProtocol, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, bad := f.server.callMethod(t.Context(), mustJSON(wire.RemoteCallParams{RemoteSigned: by, Call: call}), proc.Cred{}); bad == nil {
		t.Error("what was signed for a stream counts for a call, want it refused")
	}
	if _, err := base64.RawURLEncoding.DecodeString(by.Signature); err != nil {
		t.Errorf("the signature isn't base64: %v", err)
	}
}
