package handler

import (
	"encoding/json"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// The rows follow what the real Claude Code was seen to do.
func TestParseClaude(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	type decision = event.Decision
	tool := func(rest string) Output {
		return Output{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + rest + `}}`)}
	}
	perm := func(rest string) Output {
		return Output{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{` + rest +
			`}}}`)}
	}
	say := func(s string) Output { return Output{Stdout: []byte(s)} }
	for _, c := range []struct {
		name  string
		event string
		out   Output
		want  decision
		fails string
	}{
		{name: "silence", event: "PreToolUse"},
		{name: "text says nothing", event: "PreToolUse", out: say("looks fine")},
		{name: "text at a prompt", event: "UserPromptSubmit", out: say("branch main\n"), want: decision{Context: "branch main"}},
		{name: "text at a session's start", event: "SessionStart", out: say("hello"), want: decision{Context: "hello"}},
		{name: "text at the end", event: "Stop", out: say("hello")},
		{name: "a log line and JSON is text", event: "PreToolUse", out: say("x\n{\"decision\":\"block\"}")},

		{name: "allow", event: "PreToolUse", out: tool(`"permissionDecision":"allow","permissionDecisionReason":"r"`), want: decision{Verdict: event.Allow, Reason: "r"}},
		{name: "deny", event: "PreToolUse", out: tool(`"permissionDecision":"deny","permissionDecisionReason":"r","updatedInput":{"a":1}`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "deny without a reason", event: "PreToolUse", out: tool(`"permissionDecision":"deny"`), want: decision{Verdict: event.Deny, Reason: event.DefaultReason}},
		{name: "deny with the words for the user alone", event: "PreToolUse", out: say(`{"decision":"block","systemMessage":"no prod"}`), want: decision{Verdict: event.Deny, Reason: "no prod", Notice: "no prod"}},
		{name: "deny with words for both", event: "PreToolUse", out: say(`{"decision":"block","reason":"r","systemMessage":"no prod"}`), want: decision{Verdict: event.Deny, Reason: "r", Notice: "no prod"}},
		{name: "ask", event: "PreToolUse", out: tool(`"permissionDecision":"ask","permissionDecisionReason":"r"`), want: decision{Verdict: event.Ask, Reason: "r"}},
		{name: "defer", event: "PreToolUse", out: tool(`"permissionDecision":"defer"`)},
		{name: "changed", event: "PreToolUse", out: tool(`"updatedInput":{"command":"ls"}`), want: decision{Verdict: event.Modify, Input: raw(`{"command":"ls"}`)}},
		{name: "changed and allowed", event: "PreToolUse", out: tool(`"permissionDecision":"allow","updatedInput":{"command":"ls"}`), want: decision{Verdict: event.Modify, Allowed: true, Input: raw(`{"command":"ls"}`)}},
		{name: "context", event: "PreToolUse", out: tool(`"additionalContext":"c"`), want: decision{Context: "c"}},
		{name: "old block", event: "PreToolUse", out: say(`{"decision":"block","reason":"r"}`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "old approve", event: "PreToolUse", out: say(`{"decision":"approve","reason":"r","suppressOutput":true,"unknown":[1]}`), want: decision{Verdict: event.Allow, Reason: "r"}},
		{name: "continue false stops the call", event: "PreToolUse", out: say(`{"continue":false,"stopReason":"enough"}`), want: decision{Verdict: event.Deny, Reason: "enough"}},
		{name: "continue false without words", event: "PreToolUse", out: say(`{"continue":false}`), want: decision{Verdict: event.Deny, Reason: "a hook wants the turn to end (continue: false)"}},
		{name: "continue false beats allow", event: "PreToolUse", out: say(`{"continue":false,"stopReason":"no","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":1}}}`), want: decision{Verdict: event.Deny, Reason: "no"}},
		{name: "continue false beside deny", event: "PreToolUse", out: say(`{"continue":false,"stopReason":"enough","decision":"block","reason":"r"}`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "continue false at a permission", event: "PermissionRequest", out: say(`{"continue":false,"stopReason":"r"}`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "continue false at a compaction", event: "PreCompact", out: say(`{"continue":false,"stopReason":"r"}`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "continue false after a result", event: "PostToolUse", out: say(`{"continue":false,"stopReason":"enough"}`),
			want: decision{Notice: "enough", Degraded: []event.Degradation{{What: "continue:false", Why: "hookmux cannot end a turn here"}}}},
		{name: "continue true", event: "PreToolUse", out: say(`{"continue":true,"suppressOutput":true}`)},
		{name: "misspelt answer", event: "PreToolUse", out: say(`{"desicion":"block","reason":"r"}`), fails: `"desicion" is unknown`},
		{name: "unknown answer", event: "PreToolUse", out: say(`{"blok":true}`), fails: `"blok" is unknown`},
		{name: "misspelt permission", event: "PreToolUse", out: tool(`"permisionDecision":"deny"`), fails: `"permisionDecision" is unknown`},
		{name: "unknown beside known", event: "PreToolUse", out: tool(`"permissionDecision":"deny","permissionDecisionReason":"r","later":1`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "quiet", event: "PreToolUse", out: say(`{"suppressOutput":true}`)},
		{name: "empty", event: "PreToolUse", out: say(`{}`)},
		{name: "for the user", event: "PreToolUse", out: say(`{"systemMessage":"hi"}`), want: decision{Notice: "hi"}},
		{name: "exit 2 beats JSON", event: "PreToolUse", out: Output{Exit: 2, Stderr: []byte("why\n"), Stdout: tool(`"permissionDecision":"allow"`).Stdout}, want: decision{Verdict: event.Deny, Reason: "why"}},
		{name: "exit 2 without words", event: "PreToolUse", out: Output{Exit: 2}, want: decision{Verdict: event.Deny, Reason: event.DefaultReason}},
		{name: "JSON beats exit 1", event: "PreToolUse", out: Output{Exit: 1, Stdout: tool(`"permissionDecision":"deny","permissionDecisionReason":"r"`).Stdout}, want: decision{Verdict: event.Deny, Reason: "r"}},

		{name: "permission allowed", event: "PermissionRequest", out: perm(`"behavior":"allow"`), want: decision{Verdict: event.Allow}},
		{name: "permission allowed as changed", event: "PermissionRequest", out: perm(`"behavior":"allow","updatedInput":{"command":"ls"}`), want: decision{Verdict: event.Modify, Allowed: true, Input: raw(`{"command":"ls"}`)}},
		{name: "permission denied", event: "PermissionRequest", out: perm(`"behavior":"deny","message":"m"`), want: decision{Verdict: event.Deny, Reason: "m"}},
		{name: "permission with rules", event: "PermissionRequest", out: perm(`"behavior":"allow","updatedPermissions":[{}]`), want: decision{Verdict: event.Allow, Degraded: []event.Degradation{{What: "updatedPermissions", Why: "hookmux keeps no rules for the agent"}}}},
		{name: "permission in other words", event: "PermissionRequest", out: say(`{"decision":"block"}`), fails: "decision with behavior"},
		{name: "permission exit 2", event: "PermissionRequest", out: Output{Exit: 2, Stderr: []byte("x")}, fails: "say nothing"},
		{name: "permission bad behaviour", event: "PermissionRequest", out: perm(`"behavior":"maybe"`), fails: `"maybe"`},

		{name: "prompt blocked", event: "UserPromptSubmit", out: say(`{"decision":"block","reason":"r"}`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "prompt stopped", event: "UserPromptSubmit", out: say(`{"continue":false,"stopReason":"r"}`), want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "result blocked", event: "PostToolUse", out: say(`{"decision":"block","reason":"lint fails"}`), want: decision{Context: "lint fails"}},
		{name: "result exit 2", event: "PostToolUse", out: Output{Exit: 2, Stderr: []byte("lint fails")}, want: decision{Context: "lint fails"}},
		{name: "result changed", event: "PostToolUse", out: say(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"x"}}}`), want: decision{Output: raw(`{"stdout":"x"}`)}},
		{name: "MCP result changed", event: "PostToolUse", out: say(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":"x"}}`), want: decision{Output: raw(`"x"`)}},
		{name: "failed call, answered as a result", event: "PostToolUseFailure", out: say(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}`), want: decision{Context: "c"}},
		{name: "end blocked", event: "Stop", out: say(`{"decision":"block","reason":"more"}`), want: decision{KeepGoing: true, Reason: "more"}},
		{name: "end exit 2", event: "SubagentStop", out: Output{Exit: 2, Stderr: []byte("more")}, want: decision{KeepGoing: true, Reason: "more"}},
		{name: "end with context", event: "Stop", out: say(`{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"more"}}`), want: decision{KeepGoing: true, Reason: "more"}},
		{name: "end wanted", event: "Stop", out: say(`{"decision":"block","reason":"more","continue":false}`), want: decision{}},
		{name: "compaction stopped", event: "PreCompact", out: Output{Exit: 2, Stderr: []byte("r")}, want: decision{Verdict: event.Deny, Reason: "r"}},
		{name: "start cannot be blocked", event: "SessionStart", out: Output{Exit: 2, Stderr: []byte("r")}, want: decision{Notice: "r"}},
		{name: "form declined", event: "Elicitation", out: say(`{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}`), want: decision{Verdict: event.Deny, Reason: event.DefaultReason}},

		{name: "exit 1", event: "PreToolUse", out: Output{Exit: 1, Stderr: []byte("oops")}, fails: "exit status 1: oops"},
		{name: "signal with JSON", event: "PreToolUse", out: Output{Signal: "SIGSEGV", Stdout: []byte(`{}`)}, fails: "SIGSEGV"},
		{name: "broken JSON", event: "PreToolUse", out: say(`{"a":}`), fails: "not one JSON object"},
		{name: "two JSON lines", event: "PreToolUse", out: say("{}\n{}"), fails: "not one JSON object"},
		{name: "bad word", event: "PreToolUse", out: tool(`"permissionDecision":"no"`), fails: `"no"`},
		{name: "wrong event", event: "PreToolUse", out: say(`{"hookSpecificOutput":{"hookEventName":"Stop"}}`), fails: "PreToolUse"},
		{name: "no event", event: "PreToolUse", out: say(`{"hookSpecificOutput":{"permissionDecision":"deny"}}`), fails: "hookEventName"},
		{name: "our words", event: "PreToolUse", out: say(`{"decision":"deny"}`), fails: "without --format claude"},
		{name: "input no object", event: "PreToolUse", out: tool(`"updatedInput":"ls"`), fails: "updatedInput"},
		{name: "wrong type", event: "PreToolUse", out: say(`{"systemMessage":5}`), fails: "systemMessage"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseClaude(c.event, c.out)
			check(t, got, c.want, err, c.fails)
		})
	}
}
