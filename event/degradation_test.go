package event

import (
	"encoding/json"
	"testing"
)

// The sentences stand in journals and on the wire: they stay as they are.
func TestDegradationSentences(t *testing.T) {
	for _, c := range []struct {
		lost Degradation
		want string
	}{
		{Degradation{What: PartInput, To: ToDeny, Why: NotCarried},
			"changed input → deny: the agent cannot take a changed input here"},
		{Degradation{What: PartInput, To: ToDeny, Why: NeedsApproval},
			"changed input → deny: here a change can only be sent as an approval, which nobody gave"},
		{Degradation{What: PartInput, To: ToDeny, Why: NoCall}, "changed input → deny: there is no call to change"},
		{Degradation{What: PartInput, To: ToDeny, Why: NotAnObject}, "changed input → deny: the changed input is not an object"},
		{Degradation{What: PartInput, To: ToDeny, Why: ToolFixed, Detail: "Bash"},
			"changed input → deny: the input of Bash cannot be changed"},
		{Degradation{What: PartInput, To: ToDeny, Why: KeyMissing, Detail: "path"},
			"changed input → deny: the changed input has no path"},
		{Degradation{What: PartAsk, To: ToDeny, Why: NotCarried}, "ask → deny: the agent cannot be made to ask here"},
		{Degradation{What: PartAskedChange, To: ToDeny, Why: NotTakenTogether},
			"ask with changed input → deny: not known to be taken together"},
		{Degradation{What: PartAllow, To: ToNone, Why: NotCarried}, "allow → none: the agent does not take an approval here"},
		{Degradation{What: PartAllow, To: ToNone, Why: NeedsAnswers},
			"allow → none: an approval does not answer a question; its answers must come along"},
		{Degradation{What: PartAllow, To: ToNone, Why: FormNotFilled},
			"allow → none: the form is not filled with what it takes"},
		{Degradation{What: PartDeny, To: ToNone, Why: NotCarried}, "deny → none: nothing can be stopped at this event"},
		{Degradation{What: PartOutput, Why: NotCarried}, "changed result dropped: the agent keeps its own"},
		{Degradation{What: PartContext, Why: NotCarried}, "context dropped: the agent takes none here"},
		{Degradation{What: PartContext, Why: NotTriedBeside, Detail: "a block"}, "context dropped: not tried beside a block"},
		{Degradation{What: PartStdout, Why: NotCarried}, "printed text dropped: the agent takes none here"},
		{Degradation{What: PartKeepGoing, Why: NotCarried}, "keep-going dropped: the agent cannot be kept going here"},
		{Degradation{What: PartKeepGoing, Why: TooManyRounds, Detail: "3"},
			"keep-going dropped: this turn was kept going 3 times already"},
		{Degradation{What: PartExitCode, To: NotPassedOn, Why: NotCarried, Detail: "3"},
			"exit code 3 not passed on: the agent is answered in words"},
		{Degradation{What: PartAnswer, To: ToRefusal, Why: NotCarried},
			"answer → refusal that holds it: the agent has no other form for answers here"},
		{Degradation{What: PartStandingRule, To: ToThisCall, Why: NotCarried},
			"standing approval → this call only: the agent takes none here"},
		{Degradation{What: PartPlanMode, Why: NotCarried}, "plan mode dropped: the agent goes on in the mode it chooses"},
		{Degradation{What: PartBypass, To: ToThisCall, Why: NotCarried},
			"bypass → this call only: the agent's mode cannot be switched here"},
		{Degradation{What: "interrupt", Why: "the call is denied, the turn goes on"},
			"interrupt dropped: the call is denied, the turn goes on"},
		{Degradation{Text: "read from a journal"}, "read from a journal"},
		{Degradation{}, ""},
	} {
		if got := c.lost.String(); got != c.want {
			t.Errorf("%+v reads %q, want %q", c.lost, got, c.want)
		}
	}
}

func TestDegradationIsOneStringInJSON(t *testing.T) {
	d := Decision{Degraded: []Degradation{{What: PartAsk, To: ToDeny, Why: NotCarried}}}
	b, err := json.Marshal(d)
	want := `{"verdict":"none","degraded":["ask → deny: the agent cannot be made to ask here"]}`
	if err != nil || string(b) != want {
		t.Fatalf("written as %s (error %v), want %s", b, err, want)
	}
	var back Decision
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("%s cannot be read: %v", b, err)
	}
	if got := back.DegradedText(); len(got) != 1 || got[0] != d.Degraded[0].String() {
		t.Errorf("read as %q, want %q", got, d.Degraded[0].String())
	}
}
