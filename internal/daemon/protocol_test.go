package daemon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// talk sends text and reads lines as they come back.
type talk struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (w *daemonFixture) talk() *talk {
	conn := w.Dial()
	return &talk{w.T, conn, bufio.NewReader(conn)}
}

func (k *talk) say(text string) {
	k.t.Helper()
	if _, err := io.WriteString(k.conn, text); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) line() string {
	k.t.Helper()
	line, err := k.in.ReadString('\n')
	if err != nil {
		k.t.Fatalf("no line: %v", err)
	}
	return strings.TrimSpace(line)
}

// hungUp waits for the daemon to end the conversation.
func (k *talk) hungUp() {
	k.t.Helper()
	rest, err := io.ReadAll(k.in)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		k.t.Fatal("the daemon did not hang up")
	}
	if len(rest) > 0 {
		k.t.Errorf("the daemon still said %q", rest)
	}
}

func TestJSONRPC(t *testing.T) {
	w := open(t)
	k := w.talk()
	for _, c := range []struct{ send, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"daemon.info"}`, `"id":1,"result":{"pid":`},
		{`{"jsonrpc":"2.0","id":"two","method":"no.such"}`, `"id":"two","error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":3,"method":"daemon.off","params":{"seconds":"soon"}}`, `"id":3,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":4,"method":"guard.allow","params":{"rule":"x","onse":true}}`, `"id":4,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":5,"method":"journal.query","params":[1]}`, `"id":5,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":6,"method":"journal.query","params":{"after":"-1"}}`, `"id":6,"error":{"code":-32602`},
		{`{"jsonrpc":"1.0","id":7,"method":"daemon.info"}`, `"id":7,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":8}`, `"id":8,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":9,`, `"id":null,"error":{"code":-32700`},
		{`nonsense`, `"id":null,"error":{"code":-32700`},
		// Notifications get no answer, not even a refusal; the next line does.
		{`{"jsonrpc":"2.0","method":"no.such"}` + "\n" + `{"jsonrpc":"2.0","id":10,"method":"hooks.stats"}`, `"id":10,"result":[]`},
		{`{"jsonrpc":"2.0","id":11,"method":"daemon.info","params":null}`, `"id":11,"result":`},
	} {
		k.say(c.send + "\n")
		if got := k.line(); !strings.Contains(got, c.want) {
			t.Errorf("%s\nwas answered %s\nwant %s", c.send, got, c.want)
		}
	}
	// Two at once are answered in order.
	k.say(`{"jsonrpc":"2.0","id":20,"method":"daemon.info"}` + "\n" + `{"jsonrpc":"2.0","id":21,"method":"daemon.info"}` +
		"\n")
	if a, b := k.line(), k.line(); !strings.Contains(a, `"id":20`) || !strings.Contains(b, `"id":21`) {
		t.Errorf("out of order: %.40s %.40s", a, b)
	}
}

func TestPush(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	r := daemontest.ToolBefore("codex", "s", w.Base, "make deploy")
	got, err := w.Client.Push(t.Context(), client.PushParams{ID: "pushed", Agent: "codex", Event: "PreToolUse",
		Payload: r.Payload})
	if err != nil || !strings.Contains(got.Stdout, "deny") || got.ID != "pushed" {
		t.Errorf(`got %+v, error %v; want no error, "deny" in got.Stdout and got.ID = "pushed"`, got, err)
	}
	w.Row("pushed", true)
	if err := w.Call(wire.MethodPush, wire.PushParams{Agent: "codex"}, nil); err == nil {
		t.Error("an event without a name was taken")
	}
}

func TestCmux(t *testing.T) {
	w := open(t)
	k := w.talk()
	for _, c := range []struct{ send, want string }{
		{`{"id":1,"method":"system.ping","params":{}}`, `{"id":1,"ok":true,"result":{"pong":true}}`},
		{`{"id":"a","method":"daemon.info"}`, `{"id":"a","ok":true,"result":{"pid":`},
		{`{"id":2,"method":"workspace.create"}`, `{"id":2,"ok":false,"error":{"code":"method_not_found"`},
		{`broken`, `{"ok":false,"error":{"code":"invalid_request"`},
	} {
		k.say(c.send + "\n")
		if got := k.line(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s was answered %s, want %s", c.send, got, c.want)
		}
	}
}

func TestMux0(t *testing.T) {
	w := open(t)
	const terminal = `"terminalId":"123e4567-e89b-12d3-a456-426614174000"`
	long := strings.Repeat("x", 3*16<<10)
	for event, line := range map[string]string{
		"mux0.running":    `{` + terminal + `,"event":"running","agent":"claude","at":1700000000.5}` + "\n",
		"mux0.idle":       `{` + terminal + `,"event":"idle","agent":"claude"}`, // no newline at the end
		"mux0.needsInput": `{` + terminal + `,"event":"needsInput","agent":"codex","summary":"` + long + `"}`,
		"mux0.finished":   `{` + terminal + `,"event":"finished","agent":"gemini","exitCode":3}` + "\n",
	} {
		conn := w.Dial()
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		w.Eventually(event+" is stored", func() bool {
			for _, r := range w.Rows() {
				if r.Native == event {
					return true
				}
			}
			return false
		})
	}
	k := w.talk()
	k.say(`{` + terminal + `,"event":"dancing","agent":"claude"}` + "\n")
	w.Eventually("a line that was not taken is shown", func() bool { _, shown := w.Problem("mux0"); return shown })
}

// Mux0's app reads a connection to its end, and what it
// cannot read it leaves out.
func TestMux0Conversation(t *testing.T) {
	w := open(t)
	line := func(id, rest string) string {
		return `{"terminalId":"123e4567-e89b-12d3-a456-42661417400` + id + `",` + rest + "}\n"
	}
	k := w.talk()
	now := time.Now().Unix()
	k.say(line("1", fmt.Sprintf(`"event":"running","agent":"claude","at":%d`, now-3)) + "broken\n\n" +
		line("1", fmt.Sprintf(`"event":"finished","agent":"claude","at":%d,"exitCode":0`, now)) +
		line("2", `"event":"running","agent":"shell"`))
	k.say(strings.TrimSuffix(line("3", `"event":"needsInput","agent":"codex"`), "\n"))
	k.conn.Close()
	status := func(id string) string {
		for _, s := range w.sessions() {
			if strings.HasSuffix(s.ID, id) {
				return s.Status
			}
		}
		return ""
	}
	w.Eventually("both ends of the turn and the last line count",
		func() bool { return status("1") == "done" && status("3") != "" })
	if got := status("2"); got != "" {
		t.Errorf("a shell is shown as an agent: %s", got)
	}
}

func TestGarbageIsToldSoAndHungUpOn(t *testing.T) {
	w := open(t)
	for _, text := range []string{"hello\n", "[]\n", "\x00\xff\xfe\n", "{}\n", `{"a":1}` + "\n", "GET / HTTP/1.1\n"} {
		k := w.talk()
		k.say(text)
		if got := k.line(); !strings.Contains(got, `"code":-32700`) {
			t.Errorf("%q was answered %s; want `\"code\":-32700` in got", text, got)
		}
		k.hungUp()
	}
	for name, text := range map[string]string{
		"an empty line":             "\n",
		"a frame without an end":    `{"v":1,"id":"x","agent":"claude","event":"Stop","payload":100,"env":0}` + "\nshort",
		"a frame of tomorrow":       `{"v":99,"id":"x","agent":"claude","event":"Stop","payload":0,"env":0}` + "\n",
		"a frame that is too large": `{"v":1,"id":"x","agent":"claude","event":"Stop","payload":99999999999,"env":0}` + "\n",
		"a frame with a mistake":    `{"v":1,"id":"x","agent":"claude","event":"Stop","payload":-1,"env":0}` + "\n",
	} {
		k := w.talk()
		k.say(text)
		_ = k.conn.(*net.UnixConn).CloseWrite()
		if rest, _ := io.ReadAll(k.in); bytes.Contains(rest, []byte(`"exit"`)) {
			t.Errorf("%s got an answer: %q", name, rest)
		}
	}
	w.MustPass(daemontest.SessionEvent("claude", "Notification", nil))
}

// Deciding is for people: every such method, asked from below an agent.
func TestAgentsMayNotDecide(t *testing.T) {
	w := open(t)
	var deciding, others int
	for name, class := range wire.Methods {
		if class != authority.Decide {
			others++
			continue
		}
		deciding++
		w.SetProcesses(daemontest.BelowAgent("claude"))
		err := w.Call(name, nil, nil)
		var refused *client.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "claude") {
			t.Errorf("%s from below an agent: %v", name, err)
		}
		w.SetProcesses(daemontest.BelowDaemon())
		if err := w.Call(name, nil, nil); !errors.As(err, &refused) {
			t.Errorf("%s from below the daemon: %v", name, err)
		}
		k := w.talk()
		k.say(`{"id":1,"method":"` + name + `"}` + "\n")
		if got := k.line(); !strings.Contains(got, "access_denied") {
			t.Errorf("%s in cmux's words: %s", name, got)
		}
	}
	if deciding < 10 || others < 6 {
		t.Errorf("%d deciding methods, %d others", deciding, others)
	}
	w.SetProcesses(daemontest.BelowAgent("claude"))
	for _, name := range []string{wire.MethodInfo, wire.MethodStats, wire.MethodQuery, wire.MethodHooksList} {
		if err := w.Call(name, nil, nil); err != nil {
			t.Errorf("%s may not be read: %v", name, err)
		}
	}
	// Each attempt is in the journal, as what it was: an agent does not read of
	// them there.
	w.SetProcesses(daemontest.AtTerminal())
	w.Eventually("all attempts are stored", func() bool {
		n := 0
		for _, r := range w.Rows() {
			if r.Native == "refused" && r.Agent == "hookmux" && bytes.Contains(r.Raw, []byte(`"method"`)) {
				n++
			}
		}
		return n == 3*deciding
	})
	if _, err := os.Stat(filepath.Join(w.Dirs.State, "off.json")); err == nil {
		t.Error("a refused method had an effect")
	}
	w.MustCall(wire.MethodOff, nil, nil)
}

func TestAnUnknownMethodClassIsTheStrictest(t *testing.T) {
	w := newFixture(t)
	w.Make()
	w.h.server.Methods["new.method"] = services.Method{Run: w.h.server.Methods[wire.MethodInfo].Run}
	w.Start()
	w.SetProcesses(daemontest.BelowAgent("codex"))
	if err := w.Call("new.method", nil, nil); err == nil {
		t.Error("a method without a class is open to agents")
	}
}

func TestOneDaemonOnly(t *testing.T) {
	w := open(t)
	if _, err := New(Options{Dirs: w.Dirs, Table: w.Table, LiveSettings: true}); err == nil {
		t.Error("two daemons at once")
	}
	w.MustPass(daemontest.SessionEvent("claude", "Notification", nil))
	info, err := os.Stat(w.Dirs.Socket())
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the socket is open to others: %v %v", info, err)
	}
}

func TestLargePayloadsPass(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	r := daemontest.ToolBefore("claude", "s", w.Base, "make deploy; echo "+strings.Repeat("a", 1<<20))
	r.ID = "large"
	w.MustDeny(r, "no deploys")
	row := w.Row("large", true)
	if len(row.Raw) > 64<<10 {
		t.Errorf("%d bytes of it are stored", len(row.Raw))
	}
}

func TestManyAtOnce(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	const hooks = 200
	results := make(chan error, hooks)
	for i := range hooks {
		go func() {
			r := daemontest.ToolBefore("claude", fmt.Sprint("s", i%7), w.Base, "make deploy")
			r.ID = fmt.Sprint("many-", i)
			reply, err := w.TrySend(r)
			if err == nil && !daemontest.Denies(reply) {
				err = fmt.Errorf("answered %q", reply.Stdout)
			}
			results <- err
		}()
	}
	for range hooks {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	seen := map[string]int{}
	w.Eventually("all are stored", func() bool {
		clear(seen)
		for _, r := range w.Rows() {
			seen[r.ID]++
		}
		return len(seen) == hooks
	})
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is stored %d times", id, n)
		}
	}
	var info wire.Info
	w.MustCall(wire.MethodInfo, nil, &info)
	if info.Counts.Events != hooks || info.Counts.Denied != hooks || info.Counts.Waiting != 0 {
		t.Errorf("counted %+v; want info.Counts.Events == hooks, info.Counts.Denied == hooks and "+
			"info.Counts.Waiting == 0", info.Counts)
	}
	var stats []wire.HookStat
	w.MustCall(wire.MethodStats, nil, &stats)
	found := false
	for _, s := range stats {
		found = found || s.Hook == "no-deploys" && s.Calls == hooks && s.Denied == hooks && s.MaxUS >= s.MeanUS
	}
	if !found {
		b, _ := json.Marshal(stats)
		t.Errorf("stats: %s; want found", b)
	}
}

func TestReplyNamesTheCall(t *testing.T) {
	w := open(t)
	for _, id := range []string{"plain", "with \"quotes\"", "ünïcödé", strings.Repeat("long", 32)} {
		r := frame.Request{ID: id, Agent: "claude", Event: "Notification", Payload: []byte(`{}`)}
		w.Send(r)
		w.Row(id, false)
	}
}
