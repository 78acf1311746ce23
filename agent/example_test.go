package agent_test

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// One hook, every agent: read what came, decide, answer in the agent's words.
func Example() {
	cat := agent.Builtin()

	hook := func(name, native, payload string) {
		ev := cat.Decode(agent.Input{Agent: name, Event: native, Payload: []byte(payload)})

		var d event.Decision
		if ev.Kind == event.ToolBefore && ev.Tool.Kind == event.Shell && strings.HasPrefix(ev.Tool.Commands[0], "git push") {
			d = event.Decision{Verdict: event.Ask, Reason: "pushing is for people"}
		}

		answer, sent := cat.Encode(&ev, d)
		fmt.Println(answer.Stdout)
		for _, what := range sent.Degraded {
			fmt.Println("  degraded:", what)
		}
	}

	hook("claude", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"git push"}}`)
	hook("codex", "PreToolUse", `{"session_id":"s2","tool_name":"Bash","tool_input":{"command":"git push"}}`)
	hook("grok", "PreToolUse", `{"sessionId":"s3","toolName":"run_terminal_command","toolInput":{"command":"git push"}}`)

	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"pushing is for people"}}
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"pushing is for people"}}
	//   degraded: ask → deny: the agent cannot be made to ask here
	// {"decision":"ask","reason":"pushing is for people"}
}

func ExampleCatalogue_Carries() {
	c := agent.Builtin().Carries("codex", "PreToolUse", "0.166.0")
	fmt.Println("deny:", c.Deny, "ask:", c.Ask, "changed input:", c.Input)
	// Output: deny: true ask: false changed input: true
}
