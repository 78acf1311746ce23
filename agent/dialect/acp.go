package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// The Agent Client Protocol answers a permission request by one of the options
// that the agent offers with it. The answer is the result of the request as the
// agent reads it, for `hookmux acp` to pass on; an empty one leaves the request
// to the editor. No option has room for a reason.
var acp = Dialect{
	Encode: acpEncode,
	Shapes: []string{ShapePermission, ShapeTool},
	Takes:  map[string]Takes{ShapePermission: TakesSuggestion},
}

func acpEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	if call.Shape == ShapeTool { // what the editor would do at once: there is only a no, which becomes an error
		if d.Verdict != event.Deny {
			return neutral.Answer{}, d
		}
		return neutral.Answer{Stdout: `{"refused":true}`, Stderr: event.OneLine(d.Reason)}, d
	}
	var chosen string
	switch d.Verdict {
	case event.Allow:
		if d.Answer != nil && len(d.Answer.Suggestion) > 0 {
			chosen, _ = jsontext.String(jsontext.Get(d.Answer.Suggestion, "optionId"))
		}
		if chosen == "" {
			// allow_always would allow more than this call, which wasn't asked for.
			chosen = acpOption(call.Event.Raw, "allow_once")
		}
		if chosen == "" {
			d.NoteDegraded(event.Degradation{What: event.PartAllow, To: event.ToNone, Why: event.NotCarried})
			d.Verdict = event.None
			return neutral.Answer{}, d
		}
	case event.Deny:
		if chosen = acpOption(call.Event.Raw, "reject_once"); chosen == "" {
			chosen = acpOption(call.Event.Raw, "reject_always")
		}
		if chosen == "" {
			return neutral.Answer{Stdout: `{"outcome":{"outcome":"cancelled"}}`, Stderr: event.OneLine(d.Reason)}, d
		}
	default:
		return neutral.Answer{}, d
	}
	var outcome, top object
	outcome.text("outcome", "selected")
	outcome.text("optionId", chosen)
	top.nest("outcome", outcome)
	answer := neutral.Answer{Stdout: string(top.bytes())}
	if d.Verdict == event.Deny {
		answer.Stderr = event.OneLine(d.Reason) // for the user at the editor
	}
	return answer, d
}

// acpOption finds the first option of a kind.
func acpOption(payload []byte, kind string) (id string) {
	_ = jsontext.Array(jsontext.Get(payload, "options"), func(option []byte) bool {
		if is, _ := jsontext.String(jsontext.Get(option, "kind")); is == kind {
			id, _ = jsontext.String(jsontext.Get(option, "optionId"))
		}
		return id == ""
	})
	return id
}
