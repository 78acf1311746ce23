package daemon

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// What an agent asks a new daemon waits for those who followed the old one.
func TestWhoFollowedTheDaemonBeforeIsWaitedFor(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.Down()
	w.Up()
	w.h.approvals.SetGrace(daemontest.Patience)
	call := w.startCall(hiddenPermission("make"))
	w.Eventually("the hook call is open", func() bool { return w.h.pipeline.UndecidedCalls() == 1 })
	if len(call.reply) != 0 || len(w.items()) != 0 {
		t.Fatal("decided while somebody is on the way")
	}
	w.watchInbox()
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the hook heard %q, want an allow", got)
	}
}

// Who leaves is not waited for.
func TestWhoLeavesIsNotWaitedFor(t *testing.T) {
	w := open(t)
	conn := w.Dial()
	_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"inbox.stream"}` + "\n"))
	w.Eventually("somebody follows", w.h.approvals.CanAnyoneAnswer)
	conn.Close()
	w.Eventually("nobody follows", func() bool { return !w.h.approvals.CanAnyoneAnswer() })
	w.MustPass(hiddenPermission("make"))
}
