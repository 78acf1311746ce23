package event_test

import (
	"encoding/json"
	"fmt"

	"github.com/hookmux/hookmux/event"
)

func ExampleDecision_Merge() {
	var d event.Decision
	d.Merge(event.Decision{Verdict: event.Allow, By: "team-rules"})
	d.Merge(event.Decision{Context: "the tests take a minute", By: "hints"})
	d.Merge(event.Decision{Verdict: event.Deny, Reason: "not on a Friday", By: "calendar"})
	fmt.Println(d.Verdict, "by", d.By+":", d.Reason)
	fmt.Println(d.Context)
	// Output:
	// deny by calendar: not on a Friday
	// the tests take a minute
}

func ExampleDegrade() {
	d := event.Decision{Verdict: event.Modify, Input: json.RawMessage(`{"command":"make test"}`), Reason: "use make"}
	d = event.Degrade(d, event.Carries{Deny: true}) // an agent that can only be refused
	fmt.Println(d.Verdict, "-", d.Reason)
	fmt.Println(d.Degraded[0])
	// Output:
	// deny - use make
	// changed input → deny: the agent cannot take a changed input here
}

func ExampleMergeObjects() {
	fmt.Printf("%s\n", event.MergeObjects([]byte(`{"command":"ls","timeout":5}`), []byte(`{"command":"ls -l"}`)))
	// Output: {"command":"ls -l","timeout":5}
}
