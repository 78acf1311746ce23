package sessions

import (
	"context"
	"os"
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

// What a session of a shared daemon waits for is still there after hookmux's own daemon was
// started again, as long as the terminal that shows it is.
func TestADaemonsSessionWaitsAfterARestart(t *testing.T) {
	for _, c := range []struct {
		what   string
		shown  bool
		status state.Status
	}{{"its terminal is there", true, state.WaitingForYou}, {"nobody knows its terminal", false, state.Unsure}} {
		t.Run(c.what, func(t *testing.T) {
			rig, stop := newWaitingRig(t)
			defer stop()
			self, err := proc.System().Lookup(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			key := state.Key{Agent: "codex", ID: "s1"}
			daemon := event.Place{PID: self.PID, Start: self.Start, Shared: true}
			daemons := rig.sessions.daemons
			daemons.deps.Processes = proc.System()
			daemons.find = func(context.Context, state.Key, event.Place) (int, bool) { return self.PID, c.shown }
			tell := func(ev event.Event) {
				ev.Agent, ev.Session, ev.Time, ev.Where = "codex", "s1", time.Now(), daemon
				rig.tell(ev, false)
			}
			tell(event.Event{Native: "UserPromptSubmit", Kind: event.TurnStart, Prompt: "Run it"})
			rig.sessions.tracker.sessions.SetPlace(key, daemon)
			daemons.askDaemon(key, daemon)
			tell(event.Event{Native: "PermissionRequest", Kind: event.PermissionRequest,
				Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"make"}}})

			next, stopNext := newWaitingRig(t)
			defer stopNext()
			next.sessions.store.deps.Processes = proc.System()
			next.sessions.store.putStored(rig.sessions.tracker.sessions.Snapshot())
			if one, _ := next.sessions.tracker.sessions.Get(key); one.Status != c.status {
				t.Errorf("after the restart it's %s, want %s", one.Status, c.status)
			}
		})
	}
}
