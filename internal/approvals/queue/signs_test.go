package queue

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

func after(ev *event.Event, failed bool) *event.Event {
	next, tool := *ev, *ev.Tool
	tool.Failed = failed
	next.Kind, next.Tool = event.ToolAfter, &tool
	return &next
}

func status(t *testing.T, table *Table, id string) string {
	t.Helper()
	item, err := table.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if item.Decision != nil {
		return item.Decision.Outcome
	}
	return item.Status
}

// Two identical calls are two questions: one that went on answers one.
func TestOneCallAnswersOneRequest(t *testing.T) {
	table := NewTable()
	first := mustOpen(t, table, request(call("s", "ls")))
	second := mustOpen(t, table, request(call("s", "ls")))
	table.ObserveEvent(after(call("s", "ls"), false), "")
	if status(t, table, first.ID()) != "resolved" || status(t, table, second.ID()) != "pending" {
		t.Errorf(`status(t, table, first.ID()) = %q, status(t, table, second.ID()) = %q; want status(t, table, `+
			`first.ID()) = "resolved" and status(t, table, second.ID()) = "pending"`,
			status(t, table, first.ID()), status(t, table, second.ID()))
	}
	table.ObserveEvent(after(call("s", "ls"), true), "")
	if status(t, table, second.ID()) != "resolved" || table.busy.Load() != 0 {
		t.Errorf(`status(t, table, second.ID()) = %q, table.busy.Load() = %v; want status(t, table, second.ID()) = `+
			`"resolved" and table.busy.Load() = 0`, status(t, table, second.ID()), table.busy.Load())
	}
}

// Before a call there is no window to answer in: what events say then is about
// another call, or ends the turn, and never a yes.
func TestSignsBeforeACall(t *testing.T) {
	before := func(id string) *event.Event {
		ev := call("s", "ls")
		tool := *ev.Tool
		tool.CallID = id
		ev.Kind, ev.Tool = event.ToolBefore, &tool
		return ev
	}
	resolved := func(id string) *event.Event {
		ev := before(id)
		ev.Kind = event.PermissionResolved
		return ev
	}
	for name, c := range map[string]struct {
		sign *event.Event
		want End
	}{
		"another call that does the same ran": {after(before("2"), false), Waiting},
		"one without a number ran":            {after(before(""), false), Waiting},
		"another was answered":                {resolved("2"), Waiting},
		"it was answered":                     {resolved("1"), AtPrompt},
		"the turn ended":                      {&event.Event{Agent: "claude", Session: "s", Kind: event.TurnEnd}, Overrun},
		"a turn began":                        {&event.Event{Agent: "claude", Session: "s", Kind: event.TurnStart}, Overrun},
		"the session ended":                   {&event.Event{Agent: "claude", Session: "s", Kind: event.SessionEnd}, Overrun},
	} {
		table := NewTable()
		ticket := mustOpen(t, table, request(before("1")))
		table.ObserveEvent(c.sign, "")
		if item, err := table.Find(ticket.ID()); err != nil || item.End != c.want.Code() {
			t.Errorf("%s: %q, want %q", name, item.End, c.want.Code())
		}
		table.Close()
	}
	if Overrun.Status() != Withdrawn {
		t.Errorf("Overrun.Status() = %q, want Withdrawn", Overrun.Status())
	}
}

func TestSignsOfTheWindow(t *testing.T) {
	sub := call("s", "ls")
	sub.Subagent = &event.Subagent{ID: "helper"}
	for name, c := range map[string]struct {
		sign     *event.Event
		answered string
		want     string
	}{
		"the call ran":            {after(call("s", "ls"), false), "", "resolved"},
		"another call ran":        {after(call("s", "pwd"), false), "", "pending"},
		"another session's":       {after(call("t", "ls"), false), "", "pending"},
		"a subagent's":            {after(sub, false), "", "pending"},
		"it is about to run":      {&event.Event{Agent: "claude", Session: "s", Kind: event.ToolBefore, Tool: call("s", "ls").Tool}, "", "resolved"},
		"asked once more":         {call("s", "ls"), "", "pending"},
		"the turn ended":          {&event.Event{Agent: "claude", Session: "s", Kind: event.TurnEnd}, "", "resolved"},
		"a helper's turn ended":   {&event.Event{Agent: "claude", Session: "s", Kind: event.SubagentEnd, Subagent: sub.Subagent}, "", "pending"},
		"the session ended":       {&event.Event{Agent: "claude", Session: "s", Kind: event.SessionEnd}, "", "withdrawn"},
		"another agent's session": {&event.Event{Agent: "codex", Session: "s", Kind: event.SessionEnd}, "", "pending"},
		"its number was answered": {&event.Event{Agent: "claude", Session: "s", Kind: event.PermissionResolved}, "per_1", "resolved"},
		"another number":          {&event.Event{Agent: "claude", Session: "s", Kind: event.PermissionResolved}, "per_2", "pending"},
		"a notification":          {&event.Event{Agent: "claude", Session: "s", Kind: event.UserAttention}, "", "pending"},
	} {
		table := NewTable()
		r := request(call("s", "ls"))
		r.Number = "per_1"
		ticket := mustOpen(t, table, r)
		table.ObserveEvent(c.sign, c.answered)
		if got := status(t, table, ticket.ID()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		table.Close()
	}
}

func TestWhatCameOfAnAnswer(t *testing.T) {
	no := UserAnswer{Verdict: event.Deny, Answer: event.Answer{Choice: event.ChooseDeny}}
	turnEnd := &event.Event{Agent: "claude", Session: "s", Kind: event.TurnEnd}
	for name, c := range map[string]struct {
		said UserAnswer
		sign *event.Event
		want string
	}{
		"yes, and it ran":               {yes("me"), after(call("s", "ls"), false), "confirmed"},
		"yes, and it failed":            {yes("me"), after(call("s", "ls"), true), "confirmed"},
		"yes, and it did not run":       {yes("me"), turnEnd, "overtaken"},
		"yes, and something else ran":   {yes("me"), after(call("s", "pwd"), false), "delivered"},
		"no, and it did not run":        {no, turnEnd, "confirmed"},
		"no, and it ran":                {no, after(call("s", "ls"), false), "overtaken"},
		"no, reported as a failed call": {no, after(call("s", "ls"), true), "confirmed"},
		"no, another session ended":     {no, &event.Event{Agent: "claude", Session: "t", Kind: event.SessionEnd}, "delivered"},
		"yes, the session ended":        {yes("me"), &event.Event{Agent: "claude", Session: "s", Kind: event.SessionEnd}, "overtaken"},
	} {
		table := NewTable()
		ticket := mustOpen(t, table, request(call("s", "ls")))
		if _, err := table.Reply(ticket.ID(), c.said, fine); err != nil {
			t.Fatal(err)
		}
		_, next := table.Watch()
		table.ObserveEvent(c.sign, "")
		if got := status(t, table, ticket.ID()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		changes, _, _, _ := table.Next(next)
		if told := len(changes) == 1; told != (c.want != "delivered") {
			t.Errorf(`%s: told %v; want told == (c.want != "delivered")`, name, told)
		}
		if left := table.busy.Load(); (left == 0) != (c.want != "delivered") {
			t.Errorf("%s: %d still looked for", name, left)
		}
	}
	table := NewTable()
	for range keepExpected + 10 {
		_, _ = table.Reply(mustOpen(t, table, request(call("s", "ls"))).ID(), yes("me"), fine)
	}
	if table.busy.Load() != keepExpected || table.signs.expected.Len() != keepExpected {
		t.Errorf("table.busy.Load() = %v, table.signs.expected.Len() = %v; want table.busy.Load() = keepExpected "+
			"and table.signs.expected.Len() = keepExpected", table.busy.Load(), table.signs.expected.Len())
	}
}
