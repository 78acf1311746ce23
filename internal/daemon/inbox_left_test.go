package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// follows is somebody who follows the inbox until they leave.
func (w *daemonFixture) follows() (leave func()) {
	w.T.Helper()
	conn := w.Dial()
	if _, err := conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"inbox.stream"}` + "\n")); err != nil {
		w.T.Fatal(err)
	}
	w.Eventually("somebody follows", func() bool { return w.h.approvals.Following() > 0 })
	return func() { conn.Close() }
}

func qwenAsks() frame.Request {
	return daemontest.SessionEvent("qwen", "PermissionRequest",
		map[string]any{"tool_name": "run_shell_command", "tool_input": map[string]any{"command": "make"}})
}

// When the last one who followed the inbox is gone, agents whose own dialog a
// request hides are let go; a dialog that is up stays answerable from both.
func TestTheLastOneLeaves(t *testing.T) {
	w := open(t)
	w.h.approvals.SetGrace(20 * time.Millisecond)
	leave := w.follows()
	hidden := w.startCall(qwenAsks())
	w.waiting()
	usable := w.startCall(permission("s", "make"))
	w.Eventually("both wait", func() bool { return len(w.items()) == 2 })
	leave()
	if got, ok := hidden.answer(); !ok || got != "" && got != "{}" {
		t.Errorf("the agent that hides its dialog heard %q %v", got, ok)
	}
	item := w.waiting()
	if item.Agent != "claude" {
		t.Errorf(`%s waits, want "claude"`, item.Agent)
	}
	var all []wire.InboxRequest
	w.MustCall(wire.MethodInboxItems, wire.InboxListParams{All: true}, &all)
	if all[0].Status != string(queue.Withdrawn) || all[0].End != queue.Abandoned.Code() {
		t.Errorf("all[0].Status = %s, all[0].End = %s; want all[0].Status = string(queue.Withdrawn) and all[0].End "+
			"= queue.Abandoned.Code()", all[0].Status, all[0].End)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	usable.answer()
}

// Who left a moment ago still decides.
func TestOneLeavesAndAnswers(t *testing.T) {
	w := open(t)
	w.h.approvals.SetGrace(time.Hour)
	leave := w.follows()
	hidden := w.startCall(qwenAsks())
	item := w.waiting()
	leave()
	w.Eventually("nobody follows", func() bool { return w.h.approvals.Following() == 0 })
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	if got, _ := hidden.answer(); !strings.Contains(got, "allow") {
		t.Errorf("the answer was lost: %q", got)
	}
}

// Leaving is no yes: what would run without anybody being asked waits on.
func TestLeavingIsNoYes(t *testing.T) {
	w := open(t)
	w.h.approvals.SetGrace(20 * time.Millisecond)
	w.set("approvals.policy.pi", "side-effects")
	leave := w.follows()
	call := w.startCall(piCall(false))
	w.waiting()
	hidden := w.startCall(qwenAsks())
	w.Eventually("both wait", func() bool { return len(w.items()) == 2 })
	leave()
	hidden.answer() // so those who are let go have been
	item := w.waiting()
	if item.Agent != "pi" {
		t.Fatalf(`%s waits, want "pi"`, item.Agent)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"})
	call.answer()
}
