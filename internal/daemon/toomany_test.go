package daemon

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Programs that push requests under made-up sessions fill neither the inbox nor
// the daemon: beyond a limit they are not asked about, which is said once, and
// neither hooks nor people notice.
func TestPushedFlood(t *testing.T) {
	w := open(t)
	w.watchInbox()
	var conns []net.Conn
	push := func(session string) net.Conn {
		t.Helper()
		conn := w.Dial()
		b, _ := json.Marshal(map[string]any{"id": "1", "method": wire.MethodCmuxPush,
			"params": pushed("claude-"+session, "PermissionRequest", "Bash", map[string]any{"command": "make"}, "")})
		if _, err := conn.Write(append(b, '\n')); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for i := range queue.MaxPushed {
		session := fmt.Sprint("made-up-", i)
		if i < queue.MaxPending {
			session = "real" // as many as a session may have
		}
		conns = append(conns, push(session))
	}
	w.Eventually("all wait", func() bool { return w.h.approvals.Pushed() == queue.MaxPushed })
	for range 3 {
		got, _ := w.cmux(wire.MethodCmuxPush, pushed("claude-one-more", "PermissionRequest", "Bash",
			map[string]any{"command": "make"}, ""))
		if !strings.Contains(string(got), `"timed_out"`) ||
			!strings.Contains(string(got), "too many pushed requests wait") {
			t.Fatalf(`got %s, want "timed_out" in it and "too many pushed requests wait" in it`, got)
		}
	}
	if got, _ := w.cmux(wire.MethodCmuxPush, pushed("claude-real", "PermissionRequest", "Bash",
		map[string]any{"command": "make"}, "")); !strings.Contains(string(got),
		"too many requests of this session wait") {
		t.Errorf(`got %s, want "too many requests of this session wait" in it`, got)
	}
	if p, ok := w.Problem("crowd-pushed::"); !ok || p.Count != 1 ||
		!strings.Contains(p.What, "256 requests wait that programs pushed") {
		t.Errorf(`p = %+v, ok = %v; want ok, p.Count = 1 and "256 requests wait that programs pushed" in p.What`, p, ok)
	}
	// event.push counts as the same way in.
	var result wire.PushResult
	w.MustCall(wire.MethodPush, wire.PushParams{Agent: "claude", Event: "PermissionRequest", Timeout: 60,
		Payload: json.RawMessage(`{"session_id":"e","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`)}, &result)
	if result.Stdout != "" {
		t.Errorf(`result = %+v, want result.Stdout = ""`, result)
	}
	// The session itself is asked about as ever, and people are heard.
	call := w.startCall(permission("real", "make install"))
	var mine *wire.InboxRequest
	w.Eventually("the hook's request waits", func() bool {
		for _, item := range w.items() {
			if strings.Contains(item.Shown, "make install") {
				mine = &item
			}
		}
		return mine != nil
	})
	w.say(wire.InboxReplyParams{ID: mine.ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf(`call.answer() = %q, want "allow" in it`, got)
	}
	for _, c := range conns {
		c.Close()
	}
	w.Eventually("it is taken back", func() bool {
		_, flooded := w.Problem("crowd-pushed")
		return !flooded && len(w.items()) == 0
	})
}

// An agent without a prompt of its own asks the user who sits at it about what
// is too much for the inbox: no opinion would let it run.
func TestTooManyOfAnAgentWithoutAPrompt(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.set("approvals.policy.pi", "side-effects")
	var calls []*pendingCall
	for range queue.MaxPending {
		calls = append(calls, w.startCall(piCall(true)))
	}
	w.Eventually("as many wait as may", func() bool { return len(w.items()) == queue.MaxPending })
	if got := string(w.Send(piCall(true)).Stdout); !strings.Contains(got, `"ask"`) {
		t.Errorf("it runs unasked: %q", got)
	}
	for _, c := range calls {
		c.conn.Close()
	}
	w.Eventually("all are gone", func() bool { return len(w.items()) == 0 })
}

// Where a person chose to be asked before calls run and the agent itself asks nobody, a
// call that finds no room among those that wait is asked about by the agent, or refused:
// an empty answer would let it run.
func TestTooManyBeforeCalls(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.set("approvals.policy.claude", "side-effects")
	call := func(command string) frame.Request {
		r := daemontest.ToolBefore("claude", "s", w.Project, command)
		r.Payload = []byte(strings.Replace(string(r.Payload), `{`, `{"permission_mode":"bypassPermissions",`, 1))
		return r
	}
	var calls []*pendingCall
	for i := range queue.MaxPending {
		calls = append(calls, w.startCall(call(fmt.Sprint("touch ", i))))
	}
	w.Eventually("as many wait as may", func() bool { return len(w.items()) == queue.MaxPending })
	if got := string(w.Send(call("touch more")).Stdout); !strings.Contains(got, `"ask"`) {
		t.Errorf("the call that finds no room is answered %q, want ask", got)
	}
	for _, c := range calls {
		c.conn.Close()
	}
	w.Eventually("all are gone", func() bool { return len(w.items()) == 0 })
}
