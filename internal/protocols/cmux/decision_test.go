package cmux

import (
	"encoding/json"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

// The agent's own rules reach further than a rule of hookmux: it hears "always"
// only where the user saw and took the agent's own.
func TestAlwaysReachesNoFurtherThanShown(t *testing.T) {
	suggestion := json.RawMessage(`"git *"`)
	for _, c := range []struct {
		verdict event.Verdict
		answer  *event.Answer
		want    event.Choice
	}{
		{event.Allow, nil, event.ChooseOnce},
		{event.Allow, &event.Answer{}, event.ChooseOnce},
		{event.Allow, &event.Answer{Choice: event.ChooseOnce}, event.ChooseOnce},
		{event.Allow, &event.Answer{Choice: event.ChooseAlways}, event.ChooseOnce},
		{event.Allow, &event.Answer{Choice: event.ChooseAll}, event.ChooseOnce},
		{event.Allow, &event.Answer{Choice: event.ChooseAll, Suggestion: suggestion}, event.ChooseOnce},
		{event.Allow, &event.Answer{Choice: event.ChooseAlways, Suggestion: suggestion}, event.ChooseAlways},
		{event.Allow, &event.Answer{Choice: event.ChooseBypass}, event.ChooseBypass},
		{event.Deny, &event.Answer{Choice: event.ChooseAlways, Suggestion: suggestion}, event.ChooseDeny},
	} {
		d := &event.Decision{Verdict: c.verdict, Answer: c.answer}
		if got := decisionWords(policy.Permission, d)["mode"]; got != c.want {
			t.Errorf("%s with %+v is told as %q, expected %q", c.verdict.Word(), c.answer, got, c.want)
		}
	}
}
