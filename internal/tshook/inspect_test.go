package tshook

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
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
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/tshook/bundle"
	"github.com/hookmux/hookmux/internal/tshook/ops"
)

// inspector is a client of Node's inspector protocol, which runs over a WebSocket. What
// went wrong first is in err; nothing is sent or read after it.
type inspector struct {
	conn net.Conn
	r    *bufio.Reader
	next int
	err  error
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

func connectInspector(host, path string) *inspector {
	i := &inspector{}
	if i.conn, i.err = net.Dial("tcp", host); i.err != nil {
		return i
	}
	_ = i.conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(i.conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", path, host)
	i.r = bufio.NewReader(i.conn)
	answer, err := http.ReadResponse(i.r, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		i.err = fmt.Errorf("the inspector answered %v, %w", answer, err)
	}
	return i
}

// close ends the connection.
func (i *inspector) close() {
	if i.conn != nil {
		i.conn.Close()
	}
}

// send sends one method call, as a masked text frame.
func (i *inspector) send(method string, params any) {
	if i.err != nil {
		return
	}
	i.next++
	body, err := json.Marshal(map[string]any{"id": i.next, "method": method, "params": params})
	if err == nil {
		frame := []byte{0x81, 0x80 | 126, byte(len(body) >> 8), byte(len(body)), 0, 0, 0, 0} // a mask of zeros
		_, err = i.conn.Write(append(frame, body...))
	}
	i.err = err
}

// readFull reads so many bytes.
func (i *inspector) readFull(size uint64) []byte {
	b := make([]byte, size)
	if i.err == nil {
		_, i.err = io.ReadFull(i.r, b)
	}
	return b
}

// read reads the next message.
func (i *inspector) read() (m inspectorMessage) {
	head := i.readFull(2)
	size := uint64(head[1] & 0x7f)
	if more := map[uint64]int{126: 2, 127: 8}[size]; more > 0 {
		length := make([]byte, 8)
		copy(length[8-more:], i.readFull(uint64(more)))
		size = binary.BigEndian.Uint64(length)
	}
	if i.err != nil {
		return m
	}
	body := i.readFull(size)
	if i.err != nil || head[0]&0x0f != 1 {
		return m // a ping
	}
	if i.err = json.Unmarshal(body, &m); i.err == nil && m.Error != nil {
		i.err = fmt.Errorf("the inspector refused call %d: %s", m.ID, m.Error)
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

// A debugger that attaches stops at a line of the TypeScript, and the
// trial goes on afterwards. Node's inspector falls silent or dies now and then (of 60
// runs two ended in a segmentation fault of Node), so it has three attempts.
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
	for attempt := 1; ; attempt++ {
		where, tried, err := inspectOnce(t, b, path, s.bash("ls"))
		if err != nil && attempt < 3 {
			t.Logf("attempt %d: %v; the trial ended with %v", attempt, err, tried.Err)
			continue
		}
		if err != nil {
			t.Fatalf("attempt %d: %v; the trial ended with %v", attempt, err, tried.Err)
		}
		_, where = bundle.ReadMap([]byte(b.Map), s.dir).RewriteStack(where, bundle.NameInEngine)
		if !strings.HasPrefix(where, path+":7:") {
			t.Errorf("stopped at %s, want %s:7", where, path)
		}
		if tried.Err != nil || tried.Decision.Verdict != event.Deny || tried.Decision.Reason != "ls was stopped at" ||
			tried.Info.Runtime != "node" {
			t.Errorf(`afterwards: %v %v %s; want no error, a deny because "ls was stopped at", and node`,
				tried.Decision, tried.Err, tried.Info.Runtime)
		}
		return
	}
}

// inspectOnce runs a trial with a debugger, and says at which frame it stopped.
func inspectOnce(t *testing.T, b *bundle.Bundle, path string, ev *event.Event) (string, Tried, error) {
	above, _, _ := strings.Cut(b.Code, "was stopped at")
	said := &sharedText{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan Tried, 1)
	go func() {
		done <- Try(ctx, Host{Inspect: said, Limits: Limits{Load: time.Hour}}, Trial{
			Source: Source{Path: path}, Event: ev, Name: "tool_call", Timeout: time.Hour,
		})
	}()
	address := regexp.MustCompile(`ws://([^/\s]+)(/\S+)`)
	await.Until(t, "the debugger's address", func() bool { return address.MatchString(said.String()) || len(done) > 0 })
	parts := address.FindStringSubmatch(said.String())
	if parts == nil {
		return "", <-done, errors.New("the trial ended before the debugger was there")
	}
	i := connectInspector(parts[1], parts[2])
	defer i.close()
	i.send("Debugger.enable", map[string]any{})
	i.send("Debugger.setBreakpointByUrl", map[string]any{"lineNumber": strings.Count(above, "\n"),
		"urlRegex": regexp.QuoteMeta(bundle.NameInEngine) + `\.mjs$`})
	i.send("Runtime.runIfWaitingForDebugger", map[string]any{})
	where := ""
	for where == "" && i.err == nil {
		m := i.read()
		if m.Method != "Debugger.paused" {
			continue
		}
		if frames := m.Params.CallFrames; len(m.Params.HitBreakpoints) > 0 && len(frames) > 0 {
			at := frames[0].Location
			where = fmt.Sprintf("at x (%s:%d:%d)", bundle.NameInEngine, at.LineNumber+1, at.ColumnNumber+1)
		}
		i.send("Debugger.resume", map[string]any{})
	}
	if i.err != nil {
		cancel()
	}
	i.close()
	return where, <-done, i.err
}
