package dialect

import (
	"encoding/json"
	"slices"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// The Agent Hooks Protocol answers with a list of effects, of which only those count
// that the question offered. The answer is that list, for `hookmux ahp` to pass on; no
// answer is an empty one, which is no opinion.
var ahp = Dialect{Encode: ahpEncode, Shapes: []string{ShapeTool, ShapePermission}}

type ahpEffect struct {
	Type      string          `json:"type"`
	Reason    string          `json:"reason,omitempty"`
	Target    string          `json:"target,omitempty"`
	Operation string          `json:"operation,omitempty"`
	DeliverAt string          `json:"deliverAt,omitempty"`
	Text      string          `json:"text,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
}

func ahpEncode(call Call) (neutral.Answer, event.Decision) {
	d := call.Decision
	var list []ahpEffect
	switch d.Verdict {
	case event.Deny: // alone: the version 0.1 takes one effect, and nothing else matters
		return ahpAnswer([]ahpEffect{{Type: "deny", Reason: event.OneLine(d.Reason)}}), d
	case event.Ask:
		list = append(list, ahpEffect{Type: "ask"})
	case event.Allow:
		list = append(list, ahpEffect{Type: "allow"})
	case event.Modify:
		operation := "merge"
		if slices.Contains(Offered(call.Event.Raw), "replace") {
			operation = "replace"
		}
		list = append(list, ahpEffect{Type: "modify", Target: "input", Operation: operation, Value: call.Input})
		if d.Allowed {
			list = append(list, ahpEffect{Type: "allow"})
		}
	}
	if d.Notice != "" {
		list = append(list, ahpEffect{Type: "message", Text: d.Notice})
	}
	if d.Context != "" {
		list = append(list, ahpEffect{Type: "inject", Target: "context", Operation: "append", DeliverAt: "now",
			Value: ahpMessages(call.Event.ID, d.Context)})
	}
	if len(list) == 0 {
		return neutral.Answer{}, d
	}
	return ahpAnswer(list), d
}

func ahpAnswer(list []ahpEffect) neutral.Answer {
	text, err := json.Marshal(list)
	if err != nil {
		return neutral.Answer{} // only what was JSON before is put into effects
	}
	return neutral.Answer{Stdout: string(text)}
}

// Offered are the words for what whoever sent a payload says it can carry.
func Offered(payload []byte) (words []string) {
	_ = jsontext.Array(jsontext.Get(payload, "offered"), func(value []byte) bool {
		word, _ := jsontext.String(value)
		words = append(words, word)
		return true
	})
	return words
}

// ahpMessages is a text as the messages that are put before the model.
func ahpMessages(id, text string) json.RawMessage {
	part := map[string]string{"id": "hookmux-" + id + "-text", "kind": "text", "mediaType": "text/plain",
		"selection": "body", "text": text}
	list, _ := json.Marshal([]any{map[string]any{"id": "hookmux-" + id, "role": "system", "parts": []any{part}}})
	return list
}
