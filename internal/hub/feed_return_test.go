package hub

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/hubtest"
	"github.com/hookmux/hookmux/internal/wire"
)

// What an agent asks a new hub waits for those who followed the old one.
func TestWhoFollowedTheHubBeforeIsWaitedFor(t *testing.T) {
	w := open(t)
	w.watchFeed()
	w.Down()
	w.Up()
	w.h.approvals.SetGrace(hubtest.Patience)
	call := w.hold(permission("s", "make"))
	w.Eventually("the hook call is open", func() bool { return w.h.pipeline.UndecidedCalls() == 1 })
	if len(call.reply) != 0 || len(w.items()) != 0 {
		t.Fatal("decided while somebody is on the way")
	}
	w.watchFeed()
	w.say(wire.FeedReplyParams{ID: w.waiting().ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the hook heard %q, want an allow", got)
	}
}

// Who leaves is not waited for.
func TestWhoLeavesIsNotWaitedFor(t *testing.T) {
	w := open(t)
	conn := w.Dial()
	_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"feed.stream"}` + "\n"))
	w.Eventually("somebody follows", w.h.approvals.CanAnyoneAnswer)
	conn.Close()
	w.Eventually("nobody follows", func() bool { return !w.h.approvals.CanAnyoneAnswer() })
	w.MustPass(permission("s", "make"))
}
