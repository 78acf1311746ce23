package tsmodule

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/hubtest/await"
	"github.com/hookmux/hookmux/internal/tsmodule/bundle"
	"github.com/hookmux/hookmux/internal/tsmodule/ops"
)

// inspector is a client of Node's inspector protocol, which runs over a WebSocket.
type inspector struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	next int
}

// inspectorMessage is an answer or an event of the inspector.
type inspectorMessage struct {
	ID     int
	Method string
	Params struct {
		CallFrames []struct {
			URL      string
			Location struct{ LineNumber, ColumnNumber int }
		}
		HitBreakpoints []string
	}
	Error json.RawMessage
}

func connectInspector(t *testing.T, host, path string) *inspector {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", path, host)
	r := bufio.NewReader(conn)
	answer, err := http.ReadResponse(r, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the inspector answered %v, %v", answer, err)
	}
	return &inspector{t: t, conn: conn, r: r}
}

// send sends one method call, as a masked text frame.
func (i *inspector) send(method string, params any) {
	i.t.Helper()
	i.next++
	body, err := json.Marshal(map[string]any{"id": i.next, "method": method, "params": params})
	if err != nil {
		i.t.Fatal(err)
	}
	frame := []byte{0x81, 0x80 | 126, byte(len(body) >> 8), byte(len(body)), 0, 0, 0, 0} // a mask of zeros
	if _, err := i.conn.Write(append(frame, body...)); err != nil {
		i.t.Fatal(err)
	}
}

// read reads the next message.
func (i *inspector) read() (m inspectorMessage) {
	i.t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(i.r, head); err != nil {
		i.t.Fatal(err)
	}
	size := uint64(head[1] & 0x7f)
	if more := map[uint64]int{126: 2, 127: 8}[size]; more > 0 {
		length := make([]byte, 8)
		if _, err := io.ReadFull(i.r, length[8-more:]); err != nil {
			i.t.Fatal(err)
		}
		size = binary.BigEndian.Uint64(length)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(i.r, body); err != nil {
		i.t.Fatal(err)
	}
	if head[0]&0x0f != 1 {
		return m // a ping
	}
	if err := json.Unmarshal(body, &m); err != nil {
		i.t.Fatal(err)
	}
	if m.Error != nil {
		i.t.Fatalf("the inspector refused call %d: %s", m.ID, m.Error)
	}
	return m
}

// sharedText is written by one goroutine and read by another.
type sharedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sharedText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *sharedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

const inspected = `interface Unused { a: string }

type Also = Unused;

export default (h: any) => h.on("tool_call", async (event: any) => {
  await null;
  const marked = event.input.command + " was stopped at";
  return { block: true, reason: marked };
});
`

// TestInspect: a debugger that attaches stops at a line of the TypeScript, and the
// trial goes on afterwards.
func TestInspect(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here, so nothing can be inspected")
	}
	s := newHarness(t, nil)
	path := s.file("stop.ts", inspected)
	b, err := bundle.Make(path, []byte(inspected), ops.ReadRegular, "", "node")
	if err != nil {
		t.Fatal(err)
	}
	above, _, _ := strings.Cut(b.Code, "was stopped at")
	line := strings.Count(above, "\n")

	said := &sharedText{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Tried, 1)
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		done <- Try(ctx, Host{Inspect: said, Limits: Limits{Load: time.Hour}}, Trial{
			Source: Source{Path: path}, Event: s.bash("ls"), Name: "tool_call", Timeout: time.Hour,
		})
		close(done)
	}()
	address := regexp.MustCompile(`ws://([^/\s]+)(/\S+)`)
	await.Until(t, "the debugger's address", func() bool { return address.MatchString(said.String()) })
	parts := address.FindStringSubmatch(said.String())
	i := connectInspector(t, parts[1], parts[2])
	i.send("Debugger.enable", map[string]any{})
	i.send("Debugger.setBreakpointByUrl", map[string]any{"lineNumber": line,
		"urlRegex": regexp.QuoteMeta(bundle.NameInEngine) + `\.mjs$`})
	i.send("Runtime.runIfWaitingForDebugger", map[string]any{})

	where := ""
	for where == "" {
		m := i.read()
		if m.Method != "Debugger.paused" {
			continue
		}
		if frames := m.Params.CallFrames; len(m.Params.HitBreakpoints) > 0 && len(frames) > 0 {
			at := frames[0].Location
			frame := fmt.Sprintf("at x (%s:%d:%d)", bundle.NameInEngine, at.LineNumber+1, at.ColumnNumber+1)
			_, where = bundle.ReadMap([]byte(b.Map), s.dir).RewriteStack(frame, bundle.NameInEngine)
		}
		i.send("Debugger.resume", map[string]any{})
	}
	if !strings.HasPrefix(where, path+":7:") {
		t.Errorf("stopped at %s, want %s:7", where, path)
	}
	i.conn.Close()
	tried := <-done
	if tried.Err != nil || tried.Decision.Verdict != event.Deny || tried.Decision.Reason != "ls was stopped at" ||
		tried.Info.Runtime != "node" {
		t.Errorf(`afterwards: %v %v %s; want no error, tried.Decision.Verdict == event.Deny, `+
			`tried.Decision.Reason == "ls was stopped at" and tried.Info.Runtime == "node"`,
			tried.Decision, tried.Err, tried.Info.Runtime)
	}
}
