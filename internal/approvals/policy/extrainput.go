package policy

import (
	"encoding/json"
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// irrelevantMembers of a shell tool's input say nothing about what runs or how:
// comments for the reader, how long to wait, and which of the agent's own windows to
// use.
var irrelevantMembers = []string{
	"description", "explanation", "justification", "reason", "summary", "title", "purpose",
	"timeout", "timeout_ms", "timeoutMs", "timeout_seconds", "yield_time_ms", "max_output_tokens", "initial_wait",
	"sessionId", "shellId",
}

// commandMembers are those in which agents put the commands themselves.
var commandMembers = []string{"command", "commands", "cmd", "script"}

// ExtraInput returns what the input of a shell tool says next to the commands, in one
// spelling: where they run, whether outside of the agent's sandbox, with which
// variables. The same command with other such members is another call. It is "" where
// there is nothing: members that are false, empty or null do not count.
func ExtraInput(t *event.Tool) string {
	input := t.CurrentInput()
	if !jsontext.IsObject(input) {
		return ""
	}
	rest := map[string]json.RawMessage{}
	_ = jsontext.Object(input, func(key, value []byte) bool {
		text, isText := jsontext.String(value)
		switch {
		case slices.Contains(irrelevantMembers, string(key)), slices.Contains(commandMembers, string(key)):
		case isText && (text == "" || slices.Contains(t.Commands, text)):
		case string(value) == "null", string(value) == "false":
		default:
			rest[string(key)] = slices.Clone(value)
		}
		return true
	})
	if len(rest) == 0 {
		return ""
	}
	b, err := json.Marshal(rest)
	if err != nil {
		return string(input) // no JSON after all: only the same bytes count as the same call
	}
	return string(jsonx.Canonical(b))
}
