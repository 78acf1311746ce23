package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// echoHooks answers every call with its payload.
type echoHooks struct{}

func (echoHooks) AnswerHook(_ context.Context, call *services.Call) (frame.Reply, func(), bool) {
	return frame.Reply{ID: call.Frame.ID, Stdout: call.Frame.Payload}, nil, true
}

// readersOnly lets everybody read and nobody decide.
type readersOnly struct{}

func (readersOnly) May(class authority.Class, _ proc.Cred, _ func() []string) authority.Verdict {
	return authority.Verdict{OK: class != authority.Decide, Why: "only readers here"}
}

func (r readersOnly) EvaluateCall(_ string, class authority.Class, _ json.RawMessage, peer proc.Cred) (authority.Verdict,
	*wire.Error) {
	return r.May(class, peer, nil), nil
}

func (readersOnly) AskUser(_ context.Context, _ string, _ authority.Class, _ json.RawMessage, _ proc.Cred,
	v authority.Verdict) authority.Verdict {
	return v
}

// startServer runs a server until the test ends.
func startServer(t *testing.T, change func(*Server)) *Server {
	t.Helper()
	dirs := sandbox.NewForTest(t, sandbox.Options{}).Dirs
	if err := dirs.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ok := func(json.RawMessage, proc.Cred) (any, *wire.Error) { return map[string]bool{"ok": true}, nil }
	s := New(ctx, Options{
		Deps: services.Deps{Dirs: dirs, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Problems: services.NewProblems(nil)},
		Evaluator: readersOnly{},
		Refused:   func(string, proc.Cred, authority.Verdict) {},
		Hooks:     echoHooks{}, MetVersion: func(string) {}, GiveUp: func(string) {},
		Methods: map[string]services.Method{wire.MethodInfo: {Run: ok}, wire.MethodOff: {Run: ok}},
	})
	if change != nil {
		change(s)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(s.Serve)
	t.Cleanup(func() {
		s.StopAccepting(false)
		cancel()
		s.HangUp()
		serving.Wait()
	})
	return s
}

func dialServer(t *testing.T, s *Server) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("unix", s.Deps.Dirs.Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn, bufio.NewReader(conn)
}

// askLine sends a line and gives the answer.
func askLine(t *testing.T, conn net.Conn, in *bufio.Reader, line string) string {
	t.Helper()
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		t.Fatalf("sending %q: %v", line, err)
	}
	answer, err := in.ReadString('\n')
	if err != nil {
		t.Fatalf("no answer to %q: %v", line, err)
	}
	return answer
}

// sendHook sends a hook call and gives what came back.
func sendHook(s *Server, payload string) (string, error) {
	conn, err := net.Dial("unix", s.Deps.Dirs.Socket())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	request := frame.Request{ID: "x", Agent: "claude", Event: "Stop", Payload: []byte(payload)}
	if _, err := conn.Write(frame.AppendRequest(nil, &request)); err != nil {
		return "", err
	}
	reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	return string(reply.Stdout), err
}

func mustHook(t *testing.T, s *Server) {
	t.Helper()
	if got, err := sendHook(s, `{"a":1}`); err != nil || got != `{"a":1}` {
		t.Errorf("a hook call was answered %q, %v; expected its payload", got, err)
	}
}

func TestAHugeLineIsCutOff(t *testing.T) {
	s := startServer(t, nil)
	conn, _ := dialServer(t, s)
	junk := bytes.Repeat([]byte("x"), 1<<20)
	var err error
	for sent := 0; sent < wire.MaxLine+8<<20 && err == nil; sent += len(junk) {
		_, err = conn.Write(junk)
	}
	if err == nil {
		t.Error("the server takes a line without end")
	}
	mustHook(t, s)
}

// withLimits gives a server limits of a test's own, and a clock that only the
// test moves: nothing here depends on how fast a machine is.
func withLimits(change func(*PeerLimits)) (use func(*Server), forward func(time.Duration)) {
	limits := Standard
	change(&limits)
	var passed atomic.Int64
	start := time.Now()
	use = func(s *Server) {
		s.peers = newPeers(limits, func() time.Time { return start.Add(time.Duration(passed.Load())) })
	}
	return use, func(d time.Duration) { passed.Add(int64(d)) }
}

func mustBeHungUp(t *testing.T, who string, in *bufio.Reader) {
	t.Helper()
	if b, err := in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s got %q, %v; expected to be hung up on", who, b, err)
	}
}

func TestSilentPeersAreSweptAndHoldNobodyUp(t *testing.T) {
	use, forward := withLimits(func(*PeerLimits) {})
	s := startServer(t, use)
	// Whoever has said what it wants may stay.
	talks, in := dialServer(t, s)
	askLine(t, talks, in, `{"jsonrpc":"2.0","id":1,"method":"daemon.info"}`)
	var silent []*bufio.Reader
	for _, begins := range []string{
		"", `{"v":1,"id":"half`, `{"v":1,"id":"x","agent":"claude","event":"Stop","payload":10,"env":0}` + "\nhalf",
	} {
		conn, in := dialServer(t, s)
		if _, err := io.WriteString(conn, begins); err != nil {
			t.Fatal(err)
		}
		silent = append(silent, in)
	}
	mustHook(t, s)
	await.Until(t, "all are let in, and the hook has left", func() bool { open, _ := s.peers.Count(); return open == 4 })
	forward(Standard.Silence + time.Second)
	s.peers.Sweep()
	for i, in := range silent {
		mustBeHungUp(t, "silent peer "+strconv.Itoa(i), in)
	}
	askLine(t, talks, in, `{"jsonrpc":"2.0","id":2,"method":"daemon.info"}`)
}

// However many connections stand idle, a call gets its answer.
func TestIdleConnectionsStarveNobody(t *testing.T) {
	use, _ := withLimits(func(l *PeerLimits) { l.Connections, l.PerProcess = 8, 8 })
	s := startServer(t, use)
	const idle = 20
	var hungUp atomic.Int32
	for range idle {
		_, in := dialServer(t, s)
		go func() {
			if _, err := in.ReadByte(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				hungUp.Add(1)
			}
		}()
		mustHook(t, s)
	}
	// Which ones went depends on the order in which they were let in.
	await.Until(t, "all idle peers beyond the limit are hung up on", func() bool { return hungUp.Load() >= idle-8 })
}

// Half-sent requests keep within one budget, whichever language they are in.
func TestHalfSentRequestsKeepWithinTheBudget(t *testing.T) {
	const budget = 1 << 20
	use, _ := withLimits(func(l *PeerLimits) { l.Arriving = budget })
	s := startServer(t, use)
	var half []*bufio.Reader
	var conns []net.Conn
	for i := range 10 {
		conn, in := dialServer(t, s)
		text := `{"v":1,"id":"x","agent":"claude","event":"Stop","payload":300000,"env":0}` + "\n" +
			strings.Repeat("x", 200_000)
		if i%2 == 1 {
			text = `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 300_000)
		}
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		half, conns = append(half, in), append(conns, conn)
		await.Until(t, "what was sent is counted", func() bool {
			arriving, _ := s.peers.Bytes()
			return arriving >= min(int64(i+1)*250_000, budget*3/5)
		})
		if arriving, _ := s.peers.Bytes(); arriving > budget {
			t.Errorf("%d bytes are on their way, expected at most %d", arriving, budget)
		}
	}
	mustBeHungUp(t, "the oldest frame", half[0])
	mustBeHungUp(t, "the oldest line", half[1])
	mustHook(t, s)
	for _, conn := range conns {
		conn.Close()
	}
	await.Until(t, "the room is given back", func() bool {
		arriving, arrived := s.peers.Bytes()
		return arriving == 0 && arrived == 0
	})
}

func TestConversationsLeaveRoomForHooks(t *testing.T) {
	use, _ := withLimits(func(l *PeerLimits) { l.TalksEach = 2 })
	s := startServer(t, use)
	for range 2 {
		conn, in := dialServer(t, s)
		askLine(t, conn, in, `{"jsonrpc":"2.0","id":1,"method":"daemon.info"}`)
	}
	conn, in := dialServer(t, s)
	if _, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"daemon.info"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := in.ReadString('\n'); err == nil {
		t.Errorf("one conversation too many was answered %q", line)
	}
	mustHook(t, s)
}

func TestMethodsAreRefusedByTheirAuthority(t *testing.T) {
	var refused []string
	s := startServer(t, func(s *Server) {
		s.Refused = func(method string, _ proc.Cred, _ authority.Verdict) { refused = append(refused, method) }
	})
	conn, in := dialServer(t, s)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"daemon.info"}`: `"result":{"ok":true}`,
		`{"jsonrpc":"2.0","id":2,"method":"daemon.off"}`:  `only readers here`,
		`{"jsonrpc":"2.0","id":3,"method":"none"}`:        `there is no method`,
	} {
		if got := askLine(t, conn, in, line); !strings.Contains(got, want) {
			t.Errorf("%s was answered %s, expected %s in it", line, got, want)
		}
	}
	if len(refused) != 1 || refused[0] != wire.MethodOff {
		t.Errorf("heard of refusals %v, expected of daemon.off", refused)
	}
}

// A reading that may take long is limited for agents like any other: one that has no
// answer for them doesn't run, and the others leave out what isn't theirs.
func TestLongReadingsAreLimited(t *testing.T) {
	for _, limited := range []bool{false, true} {
		s := startServer(t, func(s *Server) {
			s.ViewOf = func(proc.Cred) View {
				return View{Limited: limited, Owns: func(_, session, _ string) bool { return session == "own" }}
			}
			s.LongMethods = map[string]services.LongMethod{
				wire.MethodWebPairWait: func(context.Context, json.RawMessage, proc.Cred) (any, *wire.Error) {
					if limited {
						t.Error("web.pair.wait runs for an agent")
					}
					return wire.WebClaim{Digits: "hamster"}, nil
				},
				wire.MethodUsage: func(context.Context, json.RawMessage, proc.Cred) (any, *wire.Error) {
					return wire.UsageReport{Rows: []wire.UsageRow{{UsageGroup: wire.UsageGroup{Session: "own"}},
						{UsageGroup: wire.UsageGroup{Session: "hamster"}}}}, nil
				},
			}
		})
		conn, in := dialServer(t, s)
		for method, own := range map[string]string{wire.MethodWebPairWait: "refused: ", wire.MethodUsage: `"own"`} {
			got := askLine(t, conn, in, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
			if strings.Contains(got, "hamster") == limited || limited && !strings.Contains(got, own) {
				t.Errorf("an agent (%v) asks %s, and the answer is %s", limited, method, got)
			}
		}
	}
}

// A long method's context ends when its caller hangs up.
func TestALongMethodHearsThatItsCallerLeft(t *testing.T) {
	left := make(chan struct{})
	s := startServer(t, func(s *Server) {
		s.LongMethods = map[string]services.LongMethod{
			wire.MethodPush: func(ctx context.Context, _ json.RawMessage, _ proc.Cred) (any, *wire.Error) {
				<-ctx.Done()
				close(left)
				return nil, nil
			},
		}
	})
	conn, _ := dialServer(t, s)
	if _, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"event.push"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	select {
	case <-left:
	case <-time.After(patience):
		t.Error("the method was never told")
	}
}
