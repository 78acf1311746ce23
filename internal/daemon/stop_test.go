package daemon

import (
	"context"
	"os"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
)

// When Run returns, what the daemon began has ended,
// whatever it was waiting for. TestMain looks for goroutines after all tests: others run
// beside this one.
func TestAStoppedDaemonLeavesNothingRunning(t *testing.T) {
	w := newFixture(t)
	path := w.tsHook("gate.ts", gateFor("prod"))
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"), "no prod")
	leave := w.follows()
	w.startCall(qwenAsks()) // until a while after the last one left
	w.waiting()
	call := w.startCall(permission("s", "make"))
	w.Eventually("both wait", func() bool { return len(w.items()) == 2 })
	leave()
	w.Eventually("nobody follows", func() bool { return w.h.approvals.Following() == 0 })
	if err := os.Remove(path); err != nil { // it is unloaded a while later
		t.Fatal(err)
	}
	w.Eventually("the hook is gone", func() bool { return len(w.tsHooks(w.Base)) == 0 })

	w.Down()
	now, end := context.WithCancel(context.Background())
	end()
	if !w.h.deps.Background.Wait(now) {
		t.Error("Run returned: want nothing running in the background, got something")
	}
	if answer, ok := call.answer(); ok {
		t.Errorf("want whoever waits hung up on, got the answer %q", answer)
	}
}
