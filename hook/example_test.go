package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// answer returns a whole hook: what an agent writes to its stdin goes in, what it
// must print and exit with comes out. docs/contributing/sdk.md shows this very code.
func answer(ctx context.Context, name, native string, stdin []byte, hooks []*hook.Entry) (stdout, stderr string, exit int) {
	agents := agent.Builtin()
	ev := agents.Decode(agent.Input{Agent: name, Event: native, Payload: stdin})
	dispatcher := hook.Dispatcher{Change: agents.WithInput}
	outcome := dispatcher.Decide(ctx, hook.Call{
		Event:   &ev,
		Carries: agents.Carries(ev.Agent, ev.Native, ev.AgentVersion),
	}, hook.Select(hooks, &ev, nil))
	reply, _ := agents.Encode(&ev, outcome.Decision)
	return reply.Stdout, reply.Stderr, reply.Exit
}

// Parse, dispatch, format: one guard, written once, answers two agents in
// their own words.
func ExampleDispatcher() {
	noProd, err := hook.NewEntry(hook.Registration{
		ID: "no-prod", Agent: hook.Any, HookType: string(event.ToolBefore),
		Match: &hook.Match{Tool: string(event.Shell), Command: `\bdeploy prod\b`},
	}, hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) {
		return event.Decision{Verdict: event.Deny, Reason: "no deploys from an agent"}, nil
	}), "program")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	hooks := []*hook.Entry{noProd}

	for _, call := range []struct{ name, payload string }{
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"deploy prod"}}`},
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make test"}}`},
		{"grok", `{"hookEventName":"pre_tool_use","toolName":"run_terminal_command","toolInput":{"command":"cd /srv && deploy prod"}}`},
	} {
		stdout, stderr, exit := answer(context.Background(), call.name, "PreToolUse", []byte(call.payload), hooks)
		fmt.Println(strings.TrimSpace(fmt.Sprintln(call.name, exit, stdout+stderr)))
	}
	// Output:
	// claude 0 {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no deploys from an agent"}}
	// claude 0
	// grok 0 {"decision":"deny","reason":"no deploys from an agent"}
}

// A handler changes a call; the one behind it sees the call as changed.
func ExampleHandler() {
	dry := hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) {
		return event.Decision{Verdict: event.Modify, Input: json.RawMessage(`{"command":"deploy --dry-run"}`)}, nil
	})
	look := hook.HandlerFunc(func(_ context.Context, call *hook.Call) (event.Decision, error) {
		fmt.Println("sees:", call.Event.Tool.Commands[0])
		return event.Decision{}, nil // no opinion: the agent's own rules apply
	})
	var hooks []*hook.Entry
	for i, run := range []hook.Handler{dry, look} {
		e, err := hook.NewEntry(hook.Registration{ID: fmt.Sprint("hook-", i), Agent: hook.Any, HookType: hook.Any}, run, "program")
		if err != nil {
			fmt.Println(err)
			return
		}
		hooks = append(hooks, e)
	}
	agents := agent.Builtin()
	ev := agents.Decode(agent.Input{Agent: "claude", Event: "PreToolUse", Payload: []byte(`{"tool_name":"Bash","tool_input":{"command":"deploy"}}`)})
	dispatcher := hook.Dispatcher{Change: agents.WithInput}
	outcome := dispatcher.Decide(context.Background(), hook.Call{Event: &ev}, hooks)
	fmt.Printf("%s %s\n", outcome.Decision.Verdict, outcome.Decision.Input)
	// Output:
	// sees: deploy --dry-run
	// modify {"command":"deploy --dry-run"}
}

func ExampleRegistration_Check() {
	r := hook.Registration{ID: "x", Agent: "*", HookType: "tool.before", Handler: "command", Target: "true", Role: "gard"}
	fmt.Println(r.Check(nil, nil))
	// Output: role "gard" is none of guard, observe, advise
}
