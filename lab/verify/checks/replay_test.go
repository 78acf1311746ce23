package checks

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/lab/verify/drivers"
)

// Recorded events of real agents are read today as they were read then: same
// kind, same tool kind, in the same order, with every field accounted for.
func TestRecordingsReplay(t *testing.T) {
	c := agent.Builtin()
	for _, name := range recordings.Agents() {
		lines, err := recordings.Events(name)
		if err != nil {
			t.Fatalf("%s: error %v, want no error", name, err)
		}
		if len(lines) == 0 {
			t.Errorf("%s: nothing recorded; want len(lines) != 0", name)
		}
		a, known := c.Agent(name)
		for i, l := range lines {
			if l.Agent != name || l.Event == "" || len(l.Payload) == 0 {
				t.Fatalf("%s line %d is not whole", name, i+1)
			}
			if !known || l.Kind == "" {
				continue // recorded before the catalogue knew it
			}
			ev := c.Decode(agent.Input{Agent: name, Event: l.Event, Payload: l.Payload})
			spec, _ := a.Event(ev.Native)
			nobodys := spec != nil && ev.Kind == event.Other && isSessionless(Subject{Agent: a, Event: spec})
			if string(ev.Kind) != l.Kind || ev.Native != l.Event || ev.Malformed != "" || ev.Session == "" && !nobodys {
				t.Errorf("%s line %d: %s read as %s %s (%s), recorded as %s", name, i+1, l.Event, ev.Native, ev.Kind,
					ev.Malformed, l.Kind)
			}
			if ev.Tool != nil && string(ev.Tool.Kind) != l.Tool {
				t.Errorf("%s line %d: tool read as %s, recorded as %s", name, i+1, ev.Tool.Kind, l.Tool)
			}
			if left := unmentionedFields(a, spec, &ev); len(left) > 0 {
				t.Errorf("%s line %d: %s: fields that nobody accounts for: %v", name, i+1, l.Event, left)
			}
		}
	}
}

// What is committed names no machine and no person.
func TestRecordingsAreScrubbed(t *testing.T) {
	for _, name := range recordings.Agents() {
		lines, err := recordings.Events(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range lines {
			for _, word := range []string{`"/tmp/`, `"/root`, `"/home/`, `"/Users/`, "/hmv"} {
				if strings.Contains(string(l.Payload), word) {
					t.Errorf("%s line %d holds %s; want no word in string(l.Payload)", name, i+1, word)
				}
			}
		}
	}
}

// Every agent that can be driven was recorded, and nothing that is claimed was
// recorded as failing.
func TestEveryDriverWasRecorded(t *testing.T) {
	all, err := recordings.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range drivers.Names() {
		s, ok := all[name]
		if !ok || s.Version == "" || len(s.Rows) == 0 {
			t.Errorf("%s has no recorded verification; see docs/contributing/verify.md", name)
		}
		for _, r := range s.Rows {
			if r.Mark == string(Fails) {
				t.Errorf("%s: %s %s %s was recorded as failing: %s", name, r.Event, r.Claim, r.Check, r.Why)
			}
		}
	}
}
