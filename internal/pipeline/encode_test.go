package pipeline

import (
	"testing"

	"github.com/hookmux/hookmux/event"
)

func TestDenialText(t *testing.T) {
	call := &event.Event{Kind: event.ToolBefore, Tool: &event.Tool{Kind: event.Shell}}
	for _, c := range []struct {
		what string
		ev   *event.Event
		d    event.Decision
		want string
	}{
		{"a hook", call, event.Decision{Verdict: event.Deny, By: "no-prod", Reason: "no prod\ndeploys."},
			"hookmux: hook no-prod stopped this: no prod deploys. `hookmux hooks list` shows where it comes from."},
		{"a TypeScript hook", call, event.Decision{Verdict: event.Deny, By: "ts:gate.ts", Reason: "no one is available to approve this"},
			"hookmux: hook gate.ts stopped this: no one is available to approve this. `hookmux hooks list` shows where it comes from."},
		{"a hook without a reason", call, event.Decision{Verdict: event.Deny, By: "x"},
			"hookmux: hook x stopped this: blocked by a hookmux hook. `hookmux hooks list` shows where it comes from."},
		{"a guard says it itself", call, event.Decision{Verdict: event.Deny, By: "guard.secrets", Rule: "secrets.x",
			Reason: event.Denial("secrets.x", "y", "z")}, "hookmux: secrets.x stopped this: y. z."},
		{"a hook that speaks as a guard does", call, event.Decision{Verdict: event.Deny, By: "x", Reason: event.Denial("y", "z", "")},
			"hookmux: hook x stopped this: hookmux: y stopped this: z. `hookmux hooks list` shows where it comes from."},
		{"a person whom a guard asked", call, event.Decision{Verdict: event.Deny, By: "person", Rule: "secrets.x", Reason: "not now",
			Answer: &event.Answer{Choice: event.ChooseDeny}}, "hookmux: the user stopped this: not now."},
		{"a person", call, event.Decision{Verdict: event.Deny, By: "person", Reason: "not now", Answer: &event.Answer{Choice: event.ChooseDeny}},
			"hookmux: the user stopped this: not now."},
		{"an answer carried as a refusal", call, event.Decision{Verdict: event.Deny, By: "person", Reason: "blue", Answer: &event.Answer{Choice: event.ChooseAnswer}}, "blue"},
		{"hookmux itself", call, event.Decision{Verdict: event.Deny, By: "hookmux", Reason: "hooks call hooks"}, "hookmux: hooks call hooks"},
		{"a turn that is kept going", &event.Event{Kind: event.TurnEnd}, event.Decision{Verdict: event.Deny, By: "x", Reason: "run the tests"}, "run the tests"},
		{"an approval", call, event.Decision{Verdict: event.Allow, By: "x", Reason: "fine"}, "fine"},
		{"only supposed", call, event.Decision{Verdict: event.Deny, By: event.BySupposed, Reason: "as it is"}, "as it is"},
	} {
		if got := denialText(c.ev, &c.d); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}
