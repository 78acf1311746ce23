package sessions

import (
	"context"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// A session of a shared daemon ends with the terminal that shows it, not while another one does.
func TestADaemonsSessionEndsWithItsTerminal(t *testing.T) {
	startTerminal := func() *exec.Cmd {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	first, second := startTerminal(), startTerminal()
	rig, stop := newWaitingRig(t)
	defer stop()
	sessions := rig.sessions.tracker.sessions
	daemons := rig.sessions.daemons
	daemons.deps.Processes = proc.System()
	var shownBy atomic.Int64 // 0: by none
	daemons.find = func(context.Context, state.Key, event.Place) (int, bool) {
		return int(shownBy.Load()), shownBy.Load() != 0
	}
	key := state.Key{Agent: "codex", ID: "s1"}
	daemon := event.Place{PID: 1, Start: 1, Shared: true}
	tell := func(native string, kind event.Kind) {
		rig.tell(event.Event{Agent: "codex", Session: "s1", Native: native, Kind: kind, Time: time.Now(),
			Where: daemon}, false)
	}
	tell("UserPromptSubmit", event.TurnStart)
	tell("Stop", event.TurnEnd)
	sessions.SetPlace(key, daemon)

	shownBy.Store(int64(first.Process.Pid))
	daemons.askDaemon(key, daemon)
	shownBy.Store(int64(second.Process.Pid)) // taken up in another terminal
	_ = first.Process.Kill()
	_ = first.Wait()
	shows := func() processKey {
		daemons.mu.Lock()
		defer daemons.mu.Unlock()
		return daemons.shown[key]
	}
	for end := time.Now().Add(patience); shows().pid != second.Process.Pid; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("pid %d is said to show it, want %d", shows().pid, second.Process.Pid)
		}
	}
	if one, _ := sessions.Get(key); !one.Live() {
		t.Fatalf("it ended (%s) though another terminal shows it", one.EndReason)
	}
	shownBy.Store(0)
	_ = second.Process.Kill()
	_ = second.Wait()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		one, _ := sessions.Get(key)
		if !one.Live() {
			if one.EndReason != "its terminal is gone" {
				t.Errorf("it ended because %q", one.EndReason)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("it lives without a terminal")
		}
	}
}
