package agent

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// Every agent of the catalogue says how its ends are told apart.
func TestEveryAgentHasAStatus(t *testing.T) {
	for _, a := range Builtin().Agents() {
		if len(a.Status.Titles) == 0 || len(a.Status.Async) == 0 || len(a.Status.Signals) == 0 {
			t.Errorf("%s: under status it has %d titles, %d async and %d signals, want at least one of each "+
				"(StatusSpec says what they are)", a.Name, len(a.Status.Titles), len(a.Status.Async), len(a.Status.Signals))
		}
		// What ends a turn in words of its own must be told apart from its
		// usual end.
		for _, e := range a.Events {
			if e.Kind != event.TurnEnd || e.Detail == "" {
				continue
			}
			if a.Status.SignalOf(&event.Event{Native: e.Name, Kind: e.Kind, Detail: e.Detail}) == "" {
				t.Errorf("%s: %s ends a turn as %s, and no signal says what that means", a.Name, e.Name, e.Detail)
			}
		}
	}
}

func TestSignals(t *testing.T) {
	s := StatusSpec{Signals: []SignalSpec{
		{Event: "End", Until: "2.0", Is: SignalEnds},
		{Event: "End", Since: "3.0", Is: SignalActive},
		{Event: "Note", Detail: "-", Is: SignalAttention},
		{Event: "Note", Detail: "ask", Is: SignalAsks},
		{Subagent: "helper", Is: SignalNests},
	}}
	for _, c := range []struct {
		ev   event.Event
		want Signal
	}{
		{event.Event{Native: "End", AgentVersion: "1.9"}, SignalEnds},
		{event.Event{Native: "End", AgentVersion: "2.0"}, ""},
		{event.Event{Native: "End", AgentVersion: "3.1"}, SignalActive},
		{event.Event{Native: "End"}, SignalActive},
		{event.Event{Native: "Note"}, SignalAttention},
		{event.Event{Native: "Note", Detail: "ask"}, SignalAsks},
		{event.Event{Native: "Note", Detail: "other"}, ""},
		{event.Event{Native: "X", Subagent: &event.Subagent{Type: "helper"}}, SignalNests},
		{event.Event{Native: "X"}, ""},
	} {
		if got := s.SignalOf(&c.ev); got != c.want {
			t.Errorf("%+v: s.SignalOf(&c.ev) = %q, want %q", c.ev, got, c.want)
		}
	}
}

func TestBadStatusBlocks(t *testing.T) {
	for block, want := range map[string]string{
		`signals: [{event: Nope, is: ends}]`:         "not an event of this agent",
		`signals: [{event: PreToolUse, is: dances}]`: "not a signal",
		`signals: [{is: ends}]`:                      "fits everything",
		`async: [Nope]`:                              "not an event of this agent",
		`titles: [rumour]`:                           "not a source of titles",
		`transcript: {format: claude}`:               "both a format and a root",
		`transcript: {root: ~/x}`:                    "both a format and a root",
		`signal: []`:                                 "signal",
	} {
		c, problems := Load(writeFiles(t, map[string]string{"mine.yaml": ownAgent + "status:\n  " + block + "\n"}))
		if len(problems) != 1 || !strings.Contains(problems[0].Text, want) || problems[0].Line == 0 {
			t.Errorf("%s: problems = %+v, want 1 of them, %q in problems[0].Text and problems[0].Line other than 0",
				block, problems, want)
		}
		if _, ok := c.Agent("mine"); ok {
			t.Errorf("%s: taken all the same", block)
		}
	}
}

// A user's block adds to the one that is there; its rules come first.
func TestOwnStatusAddsToAnAgents(t *testing.T) {
	c, problems := Load(writeFiles(t, map[string]string{"claude.yaml": `
name: claude
status:
  signals: [{event: Notification, detail: idle_prompt, is: asks}]
  titles: [prompt]
`}))
	if len(problems) > 0 {
		t.Fatalf("problems = %+v, want none", problems)
	}
	a, _ := c.Agent("claude")
	if got := a.Status.SignalOf(&event.Event{Native: "Notification", Detail: "idle_prompt"}); got != SignalAsks {
		t.Errorf("got %q, want SignalAsks", got)
	}
	if got := a.Status.SignalOf(&event.Event{Native: "StopFailure"}); got != SignalFails {
		t.Errorf("got %q, want SignalFails", got)
	}
	if len(a.Status.Titles) != 1 || a.Status.Transcript.Format != "claude" {
		t.Errorf(`a.Status = %+v, want len(a.Status.Titles) = 1 and a.Status.Transcript.Format = "claude"`, a.Status)
	}
}
