package queue

import (
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/wire"
)

// ObserveEvent ends requests that an event shows to be over. answered is the agent's own number of the
// request that the event says was answered at its own prompt, "" for none.
func (t *Table) ObserveEvent(ev *event.Event, answered string) {
	if t.busy.Load() == 0 {
		return
	}
	keys, worker := policy.Keys(ev), policy.WorkerOf(ev)
	t.mu.Lock()
	defer t.mu.Unlock()
	if answered != "" {
		if e := t.signs.byNumber[numberKey(ev, answered)]; e != nil {
			t.endEntry(e, AtPrompt, UserAnswer{})
		}
	}
	t.followAnswers(ev, keys, worker)
	switch ev.Kind {
	case event.PermissionResolved:
		t.promptAnswered(ev, keys, nil)
	case event.ToolBefore, event.ToolAfter:
		// What waits before its call has not run: it is another call that does
		// the same. An agent may also ask first and report the call then.
		t.promptAnswered(ev, keys, func(e *entry) bool { return e.request.Event.Kind != event.ToolBefore })
	case event.TurnStart, event.TurnEnd, event.SubagentEnd:
		t.endAll(func(w policy.Worker) bool { return w == worker }, AtPrompt)
	case event.SessionEnd:
		t.endAll(func(w policy.Worker) bool { return w.Agent == worker.Agent && w.Session == worker.Session },
			AgentGone)
	}
}

// promptAnswered ends the oldest request for a call that went on although it
// waits here: two identical calls are two questions, and one went on.
func (t *Table) promptAnswered(ev *event.Event, keys []policy.Key, meant func(*entry) bool) {
	for _, k := range slices.Backward(keys) { // an agent's own number of the call is surer than what it does
		for _, e := range t.signs.byKey[k] {
			if (meant == nil || meant(e)) && e.sameCall(ev) {
				t.endEntry(e, AtPrompt, UserAnswer{})
				return
			}
		}
	}
}

// sameCall is false when the agent numbers its calls and an event is about
// another one than the request.
func (e *entry) sameCall(ev *event.Event) bool {
	a, b := e.request.Event.Tool, ev.Tool
	return a == nil || b == nil || a.CallID == "" || b.CallID == "" || a.CallID == b.CallID
}

func (t *Table) endAll(meant func(policy.Worker) bool, why End) {
	for w, list := range t.signs.byWorker {
		if !meant(w) {
			continue
		}
		for _, e := range slices.Clone(list) {
			if e.request.Event.Kind == event.ToolBefore {
				t.endEntry(e, Overrun, UserAnswer{})
			} else {
				t.endEntry(e, why, UserAnswer{})
			}
		}
	}
}

// followAnswers says what came of answers: a call that ran was approved, one that
// did not was not.
func (t *Table) followAnswers(ev *event.Event, keys []policy.Key, worker policy.Worker) {
	for e := range t.signs.expected.All() {
		outcome := e.effectOf(ev, keys, worker)
		if outcome == "" {
			continue
		}
		t.signs.expected.Delete(e)
		t.busy.Add(-1)
		e.outcome = outcome
		t.noteChange(wire.NoteInboxResolved, e)
		if ev.Tool != nil {
			break // one event is about one call
		}
	}
}

// effectOf returns what an event says about an answered request; "" for nothing.
func (e *entry) effectOf(ev *event.Event, keys []policy.Key, worker policy.Worker) Outcome {
	mine := slices.ContainsFunc(keys, func(k policy.Key) bool { return slices.Contains(e.keys, k) }) && e.sameCall(ev)
	refused := e.said.Verdict == event.Deny
	tell := func(asSaid bool) Outcome {
		if asSaid {
			return Confirmed
		}
		return Overtaken
	}
	switch ev.Kind {
	case event.ToolAfter:
		// Some agents report a refused call as one that failed.
		if mine {
			return tell(!refused || ev.Tool.Failed)
		}
	case event.ToolBefore:
		if mine && e.request.Event.Kind == event.PermissionRequest {
			return tell(!refused)
		}
	case event.TurnStart, event.TurnEnd, event.SubagentEnd:
		if worker == e.worker {
			return tell(refused || e.request.Need.Kind != policy.Permission)
		}
	case event.SessionEnd:
		if worker.Agent == e.worker.Agent && worker.Session == e.worker.Session {
			return tell(refused || e.request.Need.Kind != policy.Permission)
		}
	}
	return ""
}
