package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire"
)

// fakeDaemon answers each connection's first line with what say returns, and
// hangs up when say is done.
type fakeDaemon struct {
	socket string
	mu     sync.Mutex
	asked  []wire.Request
}

func startDaemon(t testing.TB, say func(request wire.Request, conn net.Conn)) *fakeDaemon {
	t.Helper()
	h := &fakeDaemon{socket: filepath.Join(sandbox.TempDir(t), "s")}
	stop, err := sandbox.ServeSocket(h.socket, func(conn net.Conn) {
		line, err := bufio.NewReader(conn).ReadBytes('\n')
		if err != nil {
			return
		}
		var request wire.Request
		if err := json.Unmarshal(line, &request); err != nil {
			fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}`)
			return
		}
		h.mu.Lock()
		h.asked = append(h.asked, request)
		h.mu.Unlock()
		say(request, conn)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return h
}

func (h *fakeDaemon) client() *Client { return &Client{Socket: h.socket, Timeout: 20 * time.Second} }

func result(v string) func(wire.Request, net.Conn) {
	return func(r wire.Request, conn net.Conn) {
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, v)
	}
}

func TestCall(t *testing.T) {
	h := startDaemon(t, result(`{"pid":7,"version":"1.2"}`))
	info, err := h.client().Info(context.Background())
	if err != nil || info.PID != 7 || info.Version != "1.2" {
		t.Fatalf(`info = %+v, error %v; want no error, info.PID = 7 and info.Version = "1.2"`, info, err)
	}
	if err := h.client().Call(context.Background(), "config.set", wire.ConfigSetParams{Key: "a<b"}, nil); err != nil {
		t.Fatal(err)
	}
	want := []wire.Request{
		{Version: "2.0", ID: json.RawMessage("1"), Method: "daemon.info"},
		{Version: "2.0", ID: json.RawMessage("1"), Method: "config.set", Params: json.RawMessage(`{"key":"a\u003cb"}`)},
	}
	if !reflect.DeepEqual(h.asked, want) {
		t.Errorf("h.asked = %s, want %+v", h.asked, want)
	}
}

func TestADaemonThatRefuses(t *testing.T) {
	h := startDaemon(t, func(r wire.Request, conn net.Conn) {
		code, text := wire.CodeRefused, "an agent may not do that"
		if r.Method == "other" {
			code, text = wire.CodeNoMethod, "no such method"
		}
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`+"\n", code, text)
	})
	var refused *RefusedError
	if err := h.client().Call(context.Background(), "daemon.stop", nil, nil); !errors.As(err, &refused) ||
		err.Error() != "an agent may not do that" {
		t.Errorf(`error of type %T, error %v; want errors.As(err, &refused) and err.Error() = "an agent may not do `+
			`that"`, err, err)
	}
	if err := h.client().Stream(context.Background(), StreamParams{}, nil); !errors.As(err, &refused) {
		t.Errorf("error of type %T, error %v; want errors.As(err, &refused)", err, err)
	}
	var other *wire.Error
	if err := h.client().Call(context.Background(), "other", nil, nil); !errors.As(err, &other) ||
		other.Code != wire.CodeNoMethod || errors.As(err, &refused) {
		t.Errorf("error of type %T, error %v; want errors.As(err, &other), other.Code = wire.CodeNoMethod and not "+
			"errors.As(err, &refused)", err, err)
	}
}

// A daemon that does not even read what is sent may still say why.
func TestADaemonThatRefusesWithoutReading(t *testing.T) {
	socket := filepath.Join(sandbox.TempDir(t), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"not you"}}`)
		_ = conn.(*net.UnixConn).CloseWrite()
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, 1))
		time.Sleep(10 * time.Millisecond)
		conn.Close()
	}()
	c := Client{Socket: socket, Timeout: 20 * time.Second}
	err = c.Call(context.Background(), "event.push", strings.Repeat("x", 8<<20), nil)
	var refused *RefusedError
	if !errors.As(err, &refused) && !strings.Contains(err.Error(), "hung up") {
		t.Errorf(`error of type %T, error %v; want not !errors.As(err, &refused) && !strings.Contains(err.Error(), `+
			`"hung up")`, err, err)
	}
}

func TestNoDaemon(t *testing.T) {
	dir := sandbox.TempDir(t)
	nothing := Client{Socket: filepath.Join(dir, "none")}
	dead := Client{Socket: filepath.Join(dir, "dead")}
	listener, err := net.Listen("unix", dead.Socket)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // as after kill -9
	listener.Close()
	for _, c := range []*Client{&nothing, &dead} {
		if _, err := c.Info(context.Background()); !errors.Is(err, ErrNoDaemon) ||
			!strings.Contains(err.Error(), "hookmux daemon start") {
			t.Errorf(`%s: error %v, want error ErrNoDaemon and "hookmux daemon start" in err.Error()`, c.Socket, err)
		}
		if err := c.Stream(context.Background(), StreamParams{}, nil); !errors.Is(err, ErrNoDaemon) {
			t.Errorf("%s: error %v, want error ErrNoDaemon", c.Socket, err)
		}
	}
	long := Client{Socket: filepath.Join(dir, strings.Repeat("long", 50))}
	if _, err := long.Info(context.Background()); err == nil || errors.Is(err, ErrNoDaemon) ||
		!strings.Contains(err.Error(), "longlong") {
		t.Errorf(`error %v, want an error, not errors.Is(err, ErrNoDaemon) and "longlong" in err.Error()`, err)
	}
}

func TestTheSocketOfThisUser(t *testing.T) {
	dir := sandbox.TempDir(t)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"} {
		t.Setenv(name, dir)
	}
	t.Setenv("HOOKMUX_RUNTIME_DIR", dir)
	var c Client
	if got, err := c.socket(); err != nil || got != filepath.Join(dir, "daemon.sock") {
		t.Errorf("c.socket() = %q, error %v; want no error and %q", got, err, filepath.Join(dir, "daemon.sock"))
	}
}

func TestADaemonThatGoes(t *testing.T) {
	for answer, named := range map[string]string{
		"":                              "hung up",
		`{"jsonrpc":"2.0","id":1,"resu`: "hung up",
		"nonsense\n":                    "cannot be read",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}\n": "cannot be read",
		"{\"jsonrpc\":\"2.0\",\"id\":1}\n":               "cannot be read",
	} {
		h := startDaemon(t, func(_ wire.Request, conn net.Conn) { fmt.Fprint(conn, answer) })
		if _, err := h.client().Info(context.Background()); err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%q: error %v, want an error and %q in err.Error()", answer, err, named)
		}
	}
}

func TestADaemonThatSaysNothing(t *testing.T) {
	silent := func(_ wire.Request, conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) } // until the client goes
	h := startDaemon(t, silent)
	c := Client{Socket: h.socket, Timeout: 20 * time.Millisecond}
	if _, err := c.Info(context.Background()); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "no answer from the daemon within") {
		t.Errorf(`error %v, want error context.DeadlineExceeded and "no answer from the daemon within" in err.Error()`,
			err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := h.client().Info(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want error context.Canceled", err)
	}
	if _, err := h.client().Info(ctx); !errors.Is(err, context.Canceled) {
		t.Error("cancelled before it began:", err)
	}
}

// A person has 30 seconds for each question that the daemon asks them.
func TestDecisionsHaveTimeForAPerson(t *testing.T) {
	for method, class := range wire.Methods {
		if long := (&Client{}).timeout(method) > time.Minute; long != (class == wire.Decide) {
			t.Errorf("%s has the class %s: want a long wait: %v, got %v", method, class, class == wire.Decide, long)
		}
	}
}

func TestParamsThatCannotBeSent(t *testing.T) {
	h := startDaemon(t, result("1"))
	if err := h.client().Call(context.Background(), "x", func() {}, nil); err == nil || len(h.asked) != 0 {
		t.Errorf("error %v, want an error and len(h.asked) = 0", err)
	}
}

// pages serves a book of n entries, at most 3 a page.
func pages(n int) func(wire.Request, net.Conn) {
	return func(r wire.Request, conn net.Conn) {
		var q wire.QueryParams
		_ = json.Unmarshal(r.Params, &q)
		from := 0
		fmt.Sscan(q.After, &from)
		var page wire.QueryResult
		if q.Newest {
			end := n + 1
			fmt.Sscan(q.Before, &end)
			first := max(1, end-min(3, q.Limit))
			for i := first; i < end; i++ {
				page.Entries = append(page.Entries, wire.Entry{Cursor: fmt.Sprint(i), Event: json.RawMessage(`{}`)})
			}
			if first > 1 {
				page.Next = fmt.Sprint(first)
			}
			b, _ := json.Marshal(page)
			result(string(b))(r, conn)
			return
		}
		for i := from + 1; i <= n && len(page.Entries) < 3 && len(page.Entries) < q.Limit; i++ {
			page.Entries = append(page.Entries, wire.Entry{Cursor: fmt.Sprint(i), Event: json.RawMessage(`{}`)})
			if i < n {
				page.Next = fmt.Sprint(i)
			} else {
				page.Next = ""
			}
		}
		b, _ := json.Marshal(page)
		result(string(b))(r, conn)
	}
}

func TestQuery(t *testing.T) {
	h := startDaemon(t, pages(8))
	read := func(q QueryParams, stop string) string {
		var got []string
		err := h.client().Query(context.Background(), q, func(e Entry) bool {
			got = append(got, e.Cursor)
			return e.Cursor != stop
		})
		if err != nil {
			t.Error(err)
		}
		return strings.Join(got, " ")
	}
	for _, c := range []struct {
		q          QueryParams
		stop, want string
	}{
		{QueryParams{}, "", "1 2 3 4 5 6 7 8"},
		{QueryParams{After: "5"}, "", "6 7 8"},
		{QueryParams{After: "8"}, "", ""},
		{QueryParams{Limit: 2}, "", "1 2"},
		{QueryParams{Limit: 3}, "", "1 2 3"},
		{QueryParams{Limit: 5}, "", "1 2 3 4 5"},
		{QueryParams{Limit: 50}, "", "1 2 3 4 5 6 7 8"},
		{QueryParams{}, "4", "1 2 3 4"},
		{QueryParams{Newest: true, Limit: 2}, "", "7 8"},
		{QueryParams{Newest: true, Limit: 3}, "", "6 7 8"},
		{QueryParams{Newest: true, Limit: 7}, "", "2 3 4 5 6 7 8"},
		{QueryParams{Newest: true, Limit: 50}, "", "1 2 3 4 5 6 7 8"},
		{QueryParams{Newest: true, Limit: 1000000}, "", "1 2 3 4 5 6 7 8"},
		{QueryParams{Newest: true, Limit: 7}, "3", "2 3"},
	} {
		if got := read(c.q, c.stop); got != c.want {
			t.Errorf("%+v: read(c.q, c.stop) = %s, want %q", c.q, got, c.want)
		}
	}
	h.asked = nil
	read(QueryParams{Limit: 5, Filter: Filter{Agents: []string{"claude"}}}, "")
	if len(h.asked) != 2 || string(h.asked[1].Params) != `{"agents":["claude"],"after":"3","limit":2}` {
		t.Errorf(`h.asked = %s, want 2 of them and string(h.asked[1].Params) = `+
			`{"agents":["claude"],"after":"3","limit":2}`, h.asked)
	}
	h.asked = nil
	read(QueryParams{Limit: 3, Newest: true}, "")
	if len(h.asked) != 1 || string(h.asked[0].Params) != `{"limit":3,"newest":true}` {
		t.Errorf("the last 3 are one page: %s", h.asked)
	}
}

func TestQueryOfADaemonThatTurnsInCircles(t *testing.T) {
	h := startDaemon(t, result(`{"entries":[{"cursor":"1","event":{}}],"next":"1"}`))
	n := 0
	if err := h.client().Query(context.Background(), QueryParams{},
		func(Entry) bool { n++; return true }); err != nil || n != 2 {
		t.Errorf("n = %v, error %v; want no error and n = 2", n, err)
	}
}

func TestQueryFails(t *testing.T) {
	h := startDaemon(t, func(wire.Request, net.Conn) {})
	if err := h.client().Query(context.Background(), QueryParams{}, nil); err == nil {
		t.Error("a query without an answer")
	}
}

func TestStream(t *testing.T) {
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","method":"events.event","params":{"cursor":"1","event":{"id":"a","kind":"turn.end"},"outcome":{"id":"a","decision":{"verdict":"none"}}}}`,
		`{"jsonrpc":"2.0","method":"events.ready","params":{"cursor":"1"}}`,
		`{"jsonrpc":"2.0","method":"events.outcome","params":{"id":"a","tookUs":12,"decision":{"verdict":"deny"},"steps":[{"hook":"h","role":"guard","tookUs":3}]}}`,
		`{"jsonrpc":"2.0","method":"events.problem","params":{"key":"k","what":"disk full"}}`,
		`{"jsonrpc":"2.0","method":"events.trace","params":{"hook":"h","text":"hello"}}`,
		`{"jsonrpc":"2.0","method":"events.brandnew","params":{"x":1}}`,
	}
	h := startDaemon(t, func(_ wire.Request, conn net.Conn) {
		fmt.Fprint(conn, strings.Join(lines, "\n")+"\n")
		_, _ = conn.Read(make([]byte, 1))
	})
	var notes []Note
	enough := errors.New("enough")
	err := h.client().Stream(context.Background(), StreamParams{After: "0", Filter: Filter{Session: "s"}},
		func(n Note) error {
			if notes = append(notes, n); len(notes) == len(lines)-1 {
				return enough
			}
			return nil
		})
	if !errors.Is(err, enough) {
		t.Fatalf("error %v, want error %v", err, enough)
	}
	if string(h.asked[0].Params) != `{"session":"s","after":"0"}` || h.asked[0].Method != "events.stream" {
		t.Errorf(`h.asked = %s, want string(h.asked[0].Params) = {"session":"s","after":"0"} and h.asked[0].Method `+
			`= "events.stream"`, h.asked)
	}
	if n := notes[0]; n.Method != wire.NoteEvent || n.Entry.Cursor != "1" || n.Entry.Outcome.ID != "a" ||
		n.Outcome != nil {
		t.Errorf(`n = %+v, want n.Method = wire.NoteEvent, n.Entry.Cursor = "1", n.Entry.Outcome.ID = "a" and `+
			`n.Outcome = nil`, n)
	}
	if n := notes[1]; n.Ready == nil || n.Ready.Cursor != "1" || n.Entry != nil {
		t.Errorf(`n = %+v, want n.Ready other than nil, n.Ready.Cursor = "1" and n.Entry = nil`, n)
	}
	if n := notes[2]; n.Outcome == nil || n.Outcome.TookUS != 12 || n.Outcome.Steps[0].Hook != "h" {
		t.Errorf(`n = %+v, want n.Outcome other than nil, n.Outcome.TookUS = 12 and n.Outcome.Steps[0].Hook = "h"`, n)
	}
	if n := notes[3]; n.Problem == nil || n.Problem.What != "disk full" {
		t.Errorf(`n = %+v, want n.Problem other than nil and n.Problem.What = "disk full"`, n)
	}
	if n := notes[4]; n.Trace == nil || n.Trace.Text != "hello" {
		t.Errorf(`n = %+v, want n.Trace other than nil and n.Trace.Text = "hello"`, n)
	}
	if n := notes[5]; !reflect.DeepEqual(n, Note{Method: "events.brandnew"}) {
		t.Errorf("what a newer daemon says is passed on by name: %+v", n)
	}
}

func TestStreamEnds(t *testing.T) {
	// With its context.
	h := startDaemon(t, func(_ wire.Request, conn net.Conn) {
		fmt.Fprintln(conn, `{"method":"events.ready","params":{"cursor":"9"}}`)
		_, _ = conn.Read(make([]byte, 1))
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := h.client().Stream(ctx, StreamParams{}, func(Note) error { cancel(); return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v, want error context.Canceled", err)
	}
	// With the daemon; with what cannot be read.
	for answer, named := range map[string]string{
		"": "hung up",
		`{"method":"events.ready","params":{"cursor":"9"}}` + "\n": "hung up",
		"nonsense\n": "cannot be read",
		`{"method":"events.ready","params":7}` + "\n":                          "events.ready",
		`{"method":"events.event"}` + "\n":                                     "events.event",
		`{"id":1,"error":{"code":-32602,"message":"cursor x is none"}}` + "\n": "cursor x is none",
	} {
		h := startDaemon(t, func(_ wire.Request, conn net.Conn) { fmt.Fprint(conn, answer) })
		if err := h.client().Stream(context.Background(), StreamParams{},
			func(Note) error { return nil }); err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%q: error %v, want an error and %q in err.Error()", answer, err, named)
		}
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	h := startDaemon(t, func(r wire.Request, conn net.Conn) {
		if r.Method == wire.MethodStream {
			fmt.Fprintf(conn, `{"method":"events.trace","params":{"text":%q}}`+"\n", long)
			return
		}
		result(fmt.Sprintf("%q", long))(r, conn)
	})
	var got string
	if err := h.client().Call(context.Background(), "x", long, &got); err != nil || got != long {
		t.Errorf("%d bytes came back, error %v; want the %d that were sent", len(got), err, len(long))
	}
	seen := 0
	_ = h.client().Stream(context.Background(), StreamParams{},
		func(n Note) error { seen = len(n.Trace.Text); return nil })
	if seen != 1<<20 {
		t.Errorf("seen = %v, want 1 << 20", seen)
	}
}

func TestPush(t *testing.T) {
	h := startDaemon(t, result(`{"id":"e1","stdout":"{}","stderr":"","exitCode":2,"decision":{"verdict":"deny"}}`))
	got, err := h.client().Push(context.Background(),
		PushParams{Agent: "claude", Event: "Stop", Payload: json.RawMessage(`{"a": 1}`)})
	if err != nil || got.ID != "e1" || got.ExitCode != 2 || string(got.Decision) != `{"verdict":"deny"}` {
		t.Errorf(`got %+v, error %v; want no error, got.ID = "e1", got.ExitCode = 2 and string(got.Decision) = `+
			`{"verdict":"deny"}`, got, err)
	}
	if p := string(h.asked[0].Params); p != `{"agent":"claude","event":"Stop","payload":{"a":1},"timeout":20}` {
		t.Error("the daemon is told how long the client waits:", p)
	}
	if _, err := (&Client{Socket: h.socket + "x"}).Push(context.Background(), PushParams{}); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("error %v, want error ErrNoDaemon", err)
	}
}

// A pushed event may wait for a person: the client waits as long as it told
// the daemon, whatever its own limit for calls is.
func TestPushWaits(t *testing.T) {
	h := startDaemon(t, func(r wire.Request, conn net.Conn) {
		time.Sleep(60 * time.Millisecond)
		result(`{"id":"e1"}`)(r, conn)
	})
	c := Client{Socket: h.socket, Timeout: 10 * time.Millisecond}
	if _, err := c.Push(context.Background(), PushParams{Agent: "claude", Event: "Stop", Timeout: 600}); err != nil {
		t.Error(err)
	}
	if c.Timeout != 10*time.Millisecond {
		t.Error("the client itself was changed")
	}
}
