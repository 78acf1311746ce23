package sessions

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/transcript"
)

// callTool returns the call that a fact is about. began is what the record said when it
// began.
func callTool(f, began transcript.Fact) *event.Tool {
	tool := &event.Tool{Name: f.Tool, CallID: f.Call, Kind: event.Shell, Failed: f.Failed, Input: f.Input}
	if tool.Name == "" {
		tool.Name = began.Tool
	}
	if len(tool.Input) == 0 {
		tool.Input = began.Input
	}
	if tool.Commands = findCommands(tool.Input); len(tool.Commands) == 0 {
		tool.Kind = event.OtherTool
	}
	return tool
}

// failureOf reads a call's end as the status machine reads an event's: a
// search that found nothing did not fail.
func failureOf(f transcript.Fact, tool *event.Tool, cwd string, when time.Time) (state.Failure, bool) {
	if !f.Failed && f.Exit == 0 || f.Denied {
		return state.Failure{}, false
	}
	if f.Exit != 0 {
		tool.Output, _ = json.Marshal(map[string]int{"exit_code": f.Exit})
	}
	failed, text, exit := state.Failing(&event.Event{Tool: tool, Error: f.Text})
	if !failed {
		return state.Failure{}, false
	}
	return state.Failure{At: when, Tool: state.Label(tool, cwd), Text: text, Exit: exit, Call: f.Call}, true
}

// findCommands finds the command line in a call's input.
func findCommands(input []byte) []string {
	for _, key := range []string{"command", "cmd"} {
		value := jsontext.Get(input, key)
		if s, ok := jsontext.String(value); ok && s != "" {
			return []string{s}
		}
		var words []string
		if json.Unmarshal(value, &words) == nil && len(words) > 0 {
			if n := len(words); n > 2 && strings.HasSuffix(words[n-2], "c") { // sh -lc "…"
				return words[n-1:]
			}
			return []string{strings.Join(words, " ")}
		}
	}
	return nil
}
