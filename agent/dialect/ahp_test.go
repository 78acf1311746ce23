package dialect

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

// What each decision is in the words of the Agent Hooks Protocol.
func TestEffects(t *testing.T) {
	for name, c := range map[string]struct {
		offered string
		d       event.Decision
		want    string
	}{
		"nothing": {`[]`, event.Decision{}, ``},
		"deny": {`["deny"]`, event.Decision{Verdict: event.Deny, Reason: "not\nhere", Context: "x"},
			`[{"type":"deny","reason":"not here"}]`},
		"deny without a reason": {`["deny"]`, event.Decision{Verdict: event.Deny},
			`[{"type":"deny","reason":"` + event.DefaultReason + `"}]`},
		"ask":   {`["ask"]`, event.Decision{Verdict: event.Ask}, `[{"type":"ask"}]`},
		"allow": {`["allow"]`, event.Decision{Verdict: event.Allow}, `[{"type":"allow"}]`},
		"change": {`["merge","input"]`, event.Decision{Verdict: event.Modify, Input: []byte(`{"a":1}`)},
			`[{"type":"modify","target":"input","operation":"merge","value":{"a":1,"b":2}}]`},
		"approved change": {`["replace","merge"]`, event.Decision{Verdict: event.Modify, Allowed: true},
			`[{"type":"modify","target":"input","operation":"replace","value":{"a":1,"b":2}},{"type":"allow"}]`},
		"words": {`[]`, event.Decision{Notice: "n", Context: "c"}, `[{"type":"message","text":"n"},` +
			`{"type":"inject","target":"context","operation":"append","deliverAt":"now","value":[{"id":"hookmux-e1",` +
			`"parts":[{"id":"hookmux-e1-text","kind":"text","mediaType":"text/plain","selection":"body","text":"c"}],` +
			`"role":"system"}]}]`},
	} {
		ev := &event.Event{ID: "e1", Raw: []byte(`{"offered":` + c.offered + `}`)}
		got, _ := ahpEncode(Call{Event: ev, Shape: ShapeTool, Decision: c.d, Input: []byte(`{"a":1,"b":2}`)})
		if got.Stdout != c.want || got.Stderr != "" || got.Exit != 0 {
			t.Errorf("%s: answered %+v, want %s", name, got, c.want)
		}
	}
}
