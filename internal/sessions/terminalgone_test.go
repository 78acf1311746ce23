package sessions

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// Some agents outlive their terminal: a session in one that was closed is over, unless it
// still works.
func TestTerminalGone(t *testing.T) {
	shell := &event.Tool{Name: "run_shell_command", Kind: event.Shell, Commands: []string{"make"}}
	for _, c := range []struct {
		what   string
		tty    string // which the process still has
		events []event.Event
		want   string
	}{
		{"at its prompt", "", []event.Event{{Native: "BeforeAgent", Kind: event.TurnStart}, {Native: "AfterAgent", Kind: event.TurnEnd}}, "ended"},
		{"it still has its terminal", "/dev/pts/5", []event.Event{{Native: "BeforeAgent", Kind: event.TurnStart},
			{Native: "AfterAgent", Kind: event.TurnEnd}}, wire.StatusDone},
		{"at work", "", []event.Event{{Native: "BeforeAgent", Kind: event.TurnStart},
			{Native: "BeforeTool", Kind: event.ToolBefore, Tool: shell}}, wire.StatusRunning},
		{"asks in the terminal", "", []event.Event{{Native: "BeforeAgent", Kind: event.TurnStart},
			{Native: "BeforeTool", Kind: event.ToolBefore, Tool: shell},
			{Native: "Notification", Kind: event.UserAttention, Detail: "ToolPermission"}}, wire.StatusFailed},
	} {
		t.Run(c.what, func(t *testing.T) {
			rig, stop := newWaitingRig(t)
			defer stop()
			rig.sessions.deps.Processes = proctest.New(proctest.Node{PID: 70, Name: "node", TTY: c.tty, Start: 9, Session: true})
			place := event.Place{PID: 70, Start: 9, TTY: "/dev/pts/5"}
			for _, ev := range c.events {
				ev.Agent, ev.Session, ev.Time, ev.Where = "gemini", "s1", time.Now(), place
				rig.tell(ev, false)
			}
			rig.sessions.endWithoutTerminals()
			one, _ := rig.sessions.tracker.sessions.Get(state.Key{Agent: "gemini", ID: "s1"})
			got := string(one.Status)
			if !one.Live() && !one.CutOff {
				got = "ended"
			}
			if got != c.want {
				t.Errorf("it's %s, want %s", got, c.want)
			}
			if !one.Live() && one.EndReason != "its terminal is gone" {
				t.Errorf("it ended because %q", one.EndReason)
			}
		})
	}
}
