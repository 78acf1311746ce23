package state

import (
	"fmt"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// states bring a session into each status.
var states = []struct {
	status Status
	bring  func(w *world)
}{
	{NeverRan, func(*world) {}},
	{Idle, func(w *world) { w.send(event.SessionStart) }},
	{Running, func(w *world) { w.send(event.TurnStart, turn("p1")) }},
	{WaitingForYou, func(w *world) {
		w.send(event.TurnStart, turn("p1"))
		w.send(event.ToolBefore, turn("p1"), shell("c1", "make"))
		w.send(event.PermissionRequest, turn("p1"), shell("", "make"))
	}},
	{Success, func(w *world) {
		w.send(event.TurnStart, turn("p1"))
		w.send(event.TurnEnd, turn("p1"))
	}},
	{Failed, func(w *world) {
		w.send(event.TurnStart, turn("p1"))
		w.send(event.ToolBefore, turn("p1"), shell("c1", "make"))
		w.send(event.ToolAfter, turn("p1"), shell("c1", "make"), failing())
		w.send(event.TurnEnd, turn("p1"))
	}},
	{Unsure, func(w *world) {
		w.send(event.TurnStart, turn("p1"))
		w.sessions.Tick(w.now.Add(DoubtAfter), nil)
		w.now = w.now.Add(DoubtAfter)
	}},
}

// Every cell: from each status, what each event makes of it.
func TestEveryCell(t *testing.T) {
	same := Status("")
	columns := []struct {
		name string
		send func(w *world)
		// In the order of states: neverRan, idle, running, needsInput, success, failed, unsure.
		want [7]Status
	}{
		{"session starts", func(w *world) { w.send(event.SessionStart) },
			[7]Status{Idle, same, same, same, same, same, Idle}},
		{"prompt", func(w *world) { w.send(event.TurnStart, turn("p2")) },
			[7]Status{Running, Running, Running, Running, Running, Running, Running}},
		{"tool begins", func(w *world) { w.send(event.ToolBefore, turn("p2"), shell("c9", "ls")) },
			[7]Status{Running, Running, Running, Running, Running, Running, Running}},
		{"the asked tool ends", func(w *world) { w.send(event.ToolAfter, turn("p1"), shell("c1", "make")) },
			[7]Status{Running, Running, Running, Running, same, same, Running}},
		{"another tool ends", func(w *world) { w.send(event.ToolAfter, turn("p1"), edit("c2", "/src/app/x")) },
			[7]Status{Running, Running, Running, same, same, same, Running}},
		{"a tool of the turn failed", func(w *world) { w.send(event.ToolAfter, turn("p1"), edit("c2", "/src/app/x"), failing()) },
			[7]Status{Running, Running, Running, same, Failed, same, Running}},
		{"permission request", func(w *world) { w.send(event.PermissionRequest, shell("", "sudo x")) },
			[7]Status{WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou}},
		{"question", func(w *world) { w.send(event.UserQuestion) },
			[7]Status{WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou}},
		{"typed permission prompt", func(w *world) { w.send(event.UserAttention, detail("permission_prompt")) },
			[7]Status{WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou}},
		{"untyped notification", func(w *world) { w.send(event.UserAttention) },
			[7]Status{same, same, WaitingForYou, same, same, same, same}},
		{"idle prompt", func(w *world) { w.send(event.UserAttention, detail("idle_prompt")) },
			[7]Status{same, same, same, same, same, same, same}},
		{"unknown notification", func(w *world) { w.send(event.UserAttention, detail("auth_success")) },
			[7]Status{same, same, same, same, same, same, same}},
		{"answered", func(w *world) { w.send(event.PermissionResolved, shell("c1", "make")) },
			[7]Status{same, same, same, Running, same, same, same}},
		{"turn ends", func(w *world) { w.send(event.TurnEnd, turn("p1")) },
			[7]Status{Success, Success, Success, Success, same, same, Success}},
		{"end of an unheard turn", func(w *world) { w.send(event.TurnEnd, turn("p7")) },
			[7]Status{Success, Success, Success, Success, Success, Success, Success}},
		{"turn fails", func(w *world) { w.send(event.TurnEnd, native("StopFailure"), turn("p1")) },
			[7]Status{Failed, Failed, Failed, Failed, Failed, same, Failed}},
		{"compaction", func(w *world) { w.send(event.CompactBefore) },
			[7]Status{same, same, same, same, same, same, Running}},
		{"session ends", func(w *world) { w.send(event.SessionEnd) },
			[7]Status{Idle, same, Idle, Idle, same, same, Idle}},
		{"other", func(w *world) { w.send(event.Other, native("ConfigChange")) },
			[7]Status{same, same, same, same, same, same, same}},
		{"a subagent begins", func(w *world) { w.send(event.SubagentStart, by("a1", "explore")) },
			[7]Status{same, same, same, same, same, same, same}},
		{"a subagent ends", func(w *world) { w.send(event.SubagentEnd, by("a1", "explore")) },
			[7]Status{same, same, same, same, same, same, same}},
		{"a subagent's turn ends", func(w *world) { w.send(event.TurnEnd, by("a1", "explore")) },
			[7]Status{same, same, same, same, same, same, Running}},
		{"a subagent's prompt", func(w *world) { w.send(event.TurnStart, by("a1", "explore")) },
			[7]Status{same, same, same, same, same, same, Running}},
		{"a subagent asks", func(w *world) { w.send(event.PermissionRequest, by("a1", "explore"), shell("", "x")) },
			[7]Status{WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou}},
		{"transcript: interrupted", func(w *world) { w.sessions.Interrupted(key, w.now.Add(1)) },
			[7]Status{same, same, Idle, Idle, same, same, Idle}},
		{"transcript: finished", func(w *world) { w.sessions.TurnFinished(key, "p1", "", "done", w.now.Add(1)) },
			[7]Status{same, same, Success, Success, same, same, Success}},
	}
	for _, column := range columns {
		for i, state := range states {
			t.Run(fmt.Sprintf("%s/%s", column.name, state.status), func(t *testing.T) {
				w := newWorld(t)
				state.bring(w)
				if got := w.get().Status; got != state.status {
					t.Fatalf("brought to %s, want %s", got, state.status)
				}
				column.send(w)
				want := column.want[i]
				if want == same {
					want = state.status
				}
				w.is(want)
			})
		}
	}
}

// Signals of other agents, from the same states.
func TestEverySignal(t *testing.T) {
	same := Status("")
	for _, column := range []struct {
		signal agent.Signal
		want   [7]Status
	}{
		{agent.SignalNothing, [7]Status{same, same, same, same, same, same, same}},
		{agent.SignalStarts, [7]Status{Idle, same, same, same, same, same, Idle}},
		{agent.SignalLeaves, [7]Status{Idle, same, Idle, Idle, same, same, Idle}},
		{agent.SignalPrompts, [7]Status{Running, Running, Running, Running, Running, Running, Running}},
		{agent.SignalWorks, [7]Status{Running, Running, Running, Running, Running, Running, Running}},
		{agent.SignalActive, [7]Status{same, same, same, same, same, same, Running}},
		{agent.SignalSays, [7]Status{same, same, same, same, same, same, same}},
		{agent.SignalAsks, [7]Status{WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou, WaitingForYou}},
		{agent.SignalAttention, [7]Status{same, same, WaitingForYou, same, same, same, same}},
		{agent.SignalAnswered, [7]Status{same, same, same, Running, same, same, same}},
		{agent.SignalRefuses, [7]Status{same, same, same, Running, same, same, same}},
		{agent.SignalEnds, [7]Status{Success, Success, Success, Success, same, same, Success}},
		{agent.SignalFails, [7]Status{Failed, Failed, Failed, Failed, Failed, same, Failed}},
		{agent.SignalInterrupts, [7]Status{Idle, same, Idle, Idle, same, same, Idle}},
		{agent.SignalIdle, [7]Status{Idle, same, Success, Idle, same, same, Success}},
		{agent.SignalFaults, [7]Status{same, same, same, same, same, same, same}},
		{agent.SignalRecovers, [7]Status{same, same, same, same, same, same, Running}},
		{agent.SignalNests, [7]Status{same, same, same, same, same, same, same}},
	} {
		for i, state := range states {
			w := newWorld(t)
			state.bring(w)
			w.rules = Rules{Spec: &agent.StatusSpec{Signals: []agent.SignalSpec{{Event: "Odd", Is: column.signal}}}}
			w.send(event.Other, native("Odd"))
			want := column.want[i]
			if want == same {
				want = state.status
			}
			if got := w.get().Status; got != want {
				t.Errorf("%s from %s: %s, should be %s", column.signal, state.status, got, want)
			}
		}
	}
}

// A switched-off status changes nothing but titles, and keeps listing.
func TestStatusOffKeepsTitles(t *testing.T) {
	w := newWorld(t)
	w.rules.Off = true
	w.send(event.SessionStart)
	w.send(event.TurnStart, prompt("Fix the build"))
	w.send(event.PermissionRequest, shell("", "x"))
	if s := w.get(); s.Status != NeverRan || s.Title.Name() != "Fix the build" || s.Turn != nil || s.Waits() {
		t.Errorf(`s = %+v, want s.Status = NeverRan, s.Title.Name() = "Fix the build", s.Turn = nil and not s.AnyDecides()`,
			s)
	}
}
