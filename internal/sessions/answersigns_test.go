package sessions

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// oneChild is a process table with one process below the agent.
type oneChild struct {
	proc.Table
	started time.Time
	args    []string
}

func (c oneChild) Lookup(pid int) (proc.Process, error) {
	return proc.Process{PID: pid, StartTime: c.started}, nil
}
func (c oneChild) Args(int) ([]string, error) { return c.args, nil }

// askForCommand has codex ask for a command at its own prompt.
func (r *waitingRig) askForCommand() {
	r.tell(event.Event{
		Agent: "codex", Session: "s1", Native: "UserPromptSubmit", Kind: event.TurnStart, Time: time.Now(),
	}, false)
	r.tell(event.Event{
		Agent: "codex", Session: "s1", Native: "PermissionRequest", Kind: event.PermissionRequest, Time: time.Now(),
		Cwd: "/w", Where: event.Place{PID: agentPID},
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"make all"},
			Input: []byte(`{"command":"make all"}`)},
	}, false)
}

func (r *waitingRig) mustWait(what string, waits bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		r.settle()
		one, _ := r.sessions.tracker.sessions.Get(state.Key{Agent: "codex", ID: "s1"})
		if one.Waits() == waits {
			if one.Ended.IsZero() {
				r.mustAgree(what)
				return
			}
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s: waits is %v; want !time.Now().After(end)", what, one.Waits())
		}
	}
}

func TestARunningCommandEndsTheQuestion(t *testing.T) {
	for _, c := range []struct {
		what    string
		started time.Duration // after the question
		args    []string
		waits   bool
	}{
		{"it runs", time.Second, []string{"/bin/bash", "-c", "set -e; make all"}, false},
		{"another one runs", time.Second, []string{"/bin/bash", "-c", "make clean"}, true},
		{"the same ran before", -time.Second, []string{"/bin/bash", "-c", "make all"}, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			rig, end := newWaitingRig(t)
			defer end()
			asked := time.Now()
			w := rig.sessions.answers
			w.signs.below = func(int) []int { return []int{77} }
			w.deps.Processes = oneChild{rig.sessions.deps.Processes, asked.Add(c.started), c.args}
			rig.askForCommand()
			if c.waits {
				one, _ := rig.sessions.tracker.sessions.Get(state.Key{Agent: "codex", ID: "s1"})
				w.findCommands(one, one.OpenAsks())
			}
			rig.mustWait(c.what, c.waits)
		})
	}
}

func TestATitleEndsTheQuestion(t *testing.T) {
	rig, end := newWaitingRig(t)
	defer end()
	var title atomic.Value
	title.Store("shop")
	rig.sessions.answers.signs.title = func(context.Context, event.Place) (string, bool) {
		return title.Load().(string),
			true
	}
	rig.askForCommand()
	rig.mustWait("the title says nothing yet", true)
	reader := titleReader{part: "Action Required"}
	for _, step := range []struct {
		title    string
		answered bool
	}{
		{"shop", false}, {"[ ! ] Action Required | shop", false}, {"[ . ] Action Required | shop", false}, {"shop", false},
		{"[ ! ] Action Required | shop", false}, {"⠋ shop", false}, {"⠙ shop", true}, {"shop", false},
	} {
		if got := reader.showsAnswer(step.title); got != step.answered {
			t.Errorf("%q: answered is %v, want %v", step.title, got, step.answered)
		}
	}
	// Read again until the watcher saw it: it looks by the clock.
	for stop := time.Now().Add(patience); ; {
		title.Store("[ ! ] Action Required | shop")
		time.Sleep(3 * titlePeriod)
		title.Store("⠋ shop")
		time.Sleep(3 * titlePeriod)
		one, _ := rig.sessions.tracker.sessions.Get(state.Key{Agent: "codex", ID: "s1"})
		if !one.Waits() {
			break
		}
		if time.Now().After(stop) {
			t.Fatal("it still waits")
		}
	}
	rig.mustWait("the title says that it works", false)
}
