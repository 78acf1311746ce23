package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// codexKeys are the members Codex knows in an answer, per event, as its own
// schemas list them (no other members are allowed there), less those that
// make it throw the answer away: suppressOutput everywhere, continue and
// stopReason before a tool, everything but behavior and message in a
// permission decision.
var codexKeys = map[string]struct{ top, specific, decision []string }{
	"SessionStart":      {[]string{"hookSpecificOutput", "systemMessage"}, []string{"hookEventName", "additionalContext"}, nil},
	"UserPromptSubmit":  {[]string{"decision", "reason", "hookSpecificOutput", "systemMessage"}, []string{"hookEventName", "additionalContext"}, nil},
	"PreToolUse":        {[]string{"hookSpecificOutput", "systemMessage"}, []string{"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}, nil},
	"PermissionRequest": {[]string{"hookSpecificOutput", "systemMessage"}, []string{"hookEventName", "decision"}, []string{"behavior", "message"}},
	"PostToolUse":       {[]string{"decision", "reason", "hookSpecificOutput", "systemMessage"}, []string{"hookEventName", "additionalContext"}, nil},
	"Stop":              {[]string{"decision", "reason", "systemMessage"}, nil, nil},
	"SubagentStop":      {[]string{"decision", "reason", "systemMessage"}, nil, nil},
	"SubagentStart":     {[]string{"hookSpecificOutput", "systemMessage"}, []string{"hookEventName", "additionalContext"}, nil},
	"PreCompact":        {[]string{"continue", "stopReason", "systemMessage"}, nil, nil},
	"PostCompact":       {[]string{"systemMessage"}, nil, nil},
	"Interrupt":         {[]string{"systemMessage"}, nil, nil},
}

// anyDecision draws decisions of every shape, sensible or not.
func anyDecision() *rapid.Generator[event.Decision] {
	text := rapid.SampledFrom([]string{"", " ", "why", "two\nlines", "quote \" and \\", "\xff broken", "{\"a\":1}"})
	input := rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"command":"ls"}`), json.RawMessage(`{}`),
		json.RawMessage(`[1]`), json.RawMessage(`{"x":`), json.RawMessage(`"s"`), json.RawMessage(`{"command":7}`)})
	return rapid.Custom(func(t *rapid.T) event.Decision {
		return event.Decision{
			Verdict: rapid.SampledFrom([]event.Verdict{event.None, event.Allow, event.Modify, event.Ask,
				event.Deny}).Draw(t, "verdict"),
			Reason: text.Draw(t, "reason"), Allowed: rapid.Bool().Draw(t, "allowed"),
			Input: input.Draw(t, "input"), Output: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`"out"`),
				json.RawMessage(`""`), json.RawMessage(`{"a":1}`)}).Draw(t, "output"),
			Context: text.Draw(t, "context"), Notice: text.Draw(t, "notice"), KeepGoing: rapid.Bool().Draw(t, "keep"),
			Stdout: text.Draw(t, "stdout"), ExitCode: rapid.SampledFrom([]int{0, 1, 2, 49}).Draw(t, "exit"),
		}
	})
}

// Whatever is decided, on every event of every agent: the answer is empty,
// plain text where plain text is taken, or one JSON object; a refusal always
// has a reason; nothing is approved that nobody approved; Codex gets no
// member it does not know.
func TestEncodeHoldsItsPromises(t *testing.T) {
	all := fixtures(t)
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(all).Draw(t, "fixture")
		d := anyDecision().Draw(t, "decision")
		ev := Builtin().Decode(Input{Agent: f.agent, Event: f.event, Payload: f.payload})
		answer, sent := Builtin().Encode(&ev, d)
		a, _ := Builtin().Agent(f.agent)
		spec, _ := a.Event(f.event)
		if spec.Answer == "exit" {
			checkExit(t, answer, sent)
			return
		}
		// CodeBuddy may miss what is printed: its refusals also have a code.
		byCode := f.agent == "codebuddy" && sent.Verdict == event.Deny &&
			(spec.Answer == "tool" || spec.Answer == "block")
		if byCode != (answer.Exit == 2) || !byCode && answer.Exit != 0 || byCode != (answer.Stderr != "") {
			t.Fatalf(`exit %d, stderr %q; want byCode == (answer.Exit == 2), byCode or answer.Exit == 0 and `+
				`byCode == (answer.Stderr != "")`, answer.Exit, answer.Stderr)
		}
		if answer.Stdout == "" || spec.Neutral != nil && answer == neutral.Answer(*spec.Neutral) {
			if sent.Verdict == event.Deny || sent.Verdict == event.Modify {
				t.Fatalf("%s was sent as silence", sent.Verdict)
			}
			return
		}
		if answer.Stdout == sent.Stdout {
			if !spec.PlainStdout {
				t.Fatalf("plain text %q where none is taken", answer.Stdout)
			}
			return
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal([]byte(answer.Stdout), &top); err != nil {
			t.Fatalf("%s: error %v, want no error", answer.Stdout, err)
		}
		if !spec.Decides() && len(spec.Claims()) == 0 {
			t.Fatalf("answered %s where nothing is taken", answer.Stdout)
		}
		if sent.Verdict == event.Deny && strings.TrimSpace(sent.Reason) == "" {
			t.Fatal("a refusal without a reason")
		}
		approved := d.Verdict == event.Allow || d.Verdict == event.Modify && d.Allowed
		if !approved && f.agent != "codex" && containsAny(answer.Stdout, `"permissionDecision":"allow"`,
			`"behavior":"allow"`, `"reply":"once"`) {
			t.Fatalf("nobody approved: %s; want approved or f.agent == \"codex\" or "+
				"!containsAny(answer.Stdout, `\"permissionDecision\":\"allow\"`, `\"behavior\":\"allow\"`, "+
				"`\"reply\":\"once\"`)", answer.Stdout)
		}
		if d.Verdict == event.Deny && ev.Kind.Guarded() &&
			!containsAny(answer.Stdout, `"deny"`, `"block":true`, `"decision":"block"`, `"cancel":true`, `"throw":`,
				`"reply":"reject"`, `"action":"reject-and-continue"`) {
			t.Fatalf("a refusal got lost: %s", answer.Stdout)
		}
		if f.agent == "codex" {
			checkCodex(t, f.event, top)
		}
	})
}

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// checkExit wants a refusal by exit code to have a reason on stderr and nothing on
// stdout, and words on stdout never to look like an answer.
func checkExit(t *rapid.T, answer neutral.Answer, sent event.Decision) {
	refuses := sent.Verdict == event.Deny || sent.KeepGoing
	switch {
	case refuses != (answer.Exit == 2), answer.Exit != 0 && answer.Exit != 2:
		t.Fatalf("%s sent as exit %d", sent.Verdict.Word(), answer.Exit)
	case refuses && (strings.TrimSpace(answer.Stderr) == "" || answer.Stdout != ""):
		t.Fatalf("a refusal with %q on stdout and %q on stderr", answer.Stdout, answer.Stderr)
	case strings.HasPrefix(strings.TrimSpace(answer.Stdout), "{"):
		t.Fatalf("words that look like an answer: %s", answer.Stdout)
	}
}

func checkCodex(t *rapid.T, native string, top map[string]json.RawMessage) {
	known, ok := codexKeys[native]
	if !ok {
		t.Fatalf("%s takes no answer", native)
	}
	only := func(object map[string]json.RawMessage, keys []string) {
		for key := range object {
			if !slices.Contains(keys, key) {
				t.Fatalf("Codex does not know %q at %s", key, native)
			}
		}
	}
	only(top, known.top)
	var specific, decision map[string]json.RawMessage
	if raw, ok := top["hookSpecificOutput"]; ok {
		_ = json.Unmarshal(raw, &specific)
		only(specific, known.specific)
		if string(specific["hookEventName"]) != `"`+native+`"` {
			t.Fatalf("names %s; want string(specific[\"hookEventName\"]) == `\"`+native+`\"`",
				specific["hookEventName"])
		}
		switch word := string(specific["permissionDecision"]); word {
		case "":
			if specific["updatedInput"] != nil {
				t.Fatal("a changed input without allow is thrown away")
			}
		case `"allow"`:
			if specific["updatedInput"] == nil {
				t.Fatal("a bare allow is thrown away")
			}
		case `"deny"`:
			if len(specific["permissionDecisionReason"]) <= 2 {
				t.Fatal("a deny without a reason is thrown away")
			}
		default:
			t.Fatalf("Codex does not know %s", word)
		}
	}
	if raw, ok := specific["decision"]; ok {
		_ = json.Unmarshal(raw, &decision)
		only(decision, known.decision)
	}
	if raw, ok := top["decision"]; ok && (string(raw) != `"block"` || len(top["reason"]) <= 2) {
		t.Fatalf("decision %s with reason %s", raw, top["reason"])
	}
}

func TestDegradedIsSaid(t *testing.T) {
	for _, c := range []struct {
		agent, fixture string
		d              event.Decision
		verdict        event.Verdict
		note           string
	}{
		{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Modify, Input: js(changed)}, event.Deny, "which nobody gave"},
		{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Ask}, event.Deny, "ask → deny"},
		{"claude", "PermissionRequest.AskUserQuestion.json", event.Decision{Verdict: event.Allow}, event.None, "does not answer a question"},
		{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Modify, Input: js(`[1]`)}, event.Deny, "not an object"},
		{"claude", "Stop.json", event.Decision{Context: "C"}, event.None, "context dropped"},
		{"claude", "Notification.idle_prompt.json", event.Decision{Verdict: event.Deny}, event.None, "deny → none"},
		{"claude", "PreToolUse.Bash.json", event.Decision{ExitCode: 49}, event.None, "exit code 49"},
		{"claude", "PreToolUse.Bash.json", event.Decision{Stdout: "hello"}, event.None, ""},
		{"claude", "Stop.json", event.Decision{Stdout: "hello"}, event.None, "printed text dropped"},
		{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Allow}, event.None, "allow → none"},
		{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Modify, Allowed: true, Input: js(changed)}, event.Modify, "allow → none"},
		{"codex", "PreToolUse.spawn_agent.json", event.Decision{Verdict: event.Modify, Input: js(`{"message":"x"}`)}, event.Deny, "cannot be changed"},
		{"codex", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Modify, Allowed: true, Input: js(changed)}, event.Deny, "cannot take a changed input"},
		{"codex", "UserPromptSubmit.json", event.Decision{Verdict: event.Deny, Reason: "no", Context: "C"}, event.Deny, "not tried beside a block"},
		{"grok", "PreToolUse.json", event.Decision{Verdict: event.Allow}, event.None, "allow → none"},
		{"grok", "PreToolUse.json", event.Decision{Verdict: event.Ask, Input: js(`{"command":"ls"}`)}, event.Deny, "ask with changed input"},
		{"grok", "PreToolUse.json", event.Decision{Verdict: event.Deny, Reason: "no", Context: "C"}, event.Deny, "beside a deny"},
	} {
		ev := decodeFixture(t, c.agent, c.fixture)
		answer, sent := Builtin().Encode(&ev, c.d)
		if sent.Verdict != c.verdict || !strings.Contains(strings.Join(sent.DegradedText(), "; "), c.note) ||
			c.note == "" && len(sent.Degraded) > 0 {
			t.Errorf("%s %s %+v:\n got %s %q %s; want sent.Verdict == c.verdict, c.note in "+
				"strings.Join(sent.DegradedText(), \"; \") and c.note != \"\" or len(sent.Degraded) <= 0",
				c.agent, c.fixture, c.d, sent.Verdict.Word(), sent.Degraded, answer.Stdout)
		}
	}
}

func TestTextThatLooksLikeAnAnswerIsWrapped(t *testing.T) {
	ev := decodeFixture(t, "claude", "UserPromptSubmit.json")
	answer, _ := Builtin().Encode(&ev, event.Decision{Stdout: `{"decision":"block"}`})
	if want := `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"{\"decision\":\"block\"}"}}`; answer.Stdout != want {
		t.Errorf("answer.Stdout = %q, want %q", answer.Stdout, want)
	}
}

func TestUnknownAgentsAndEventsGetSilence(t *testing.T) {
	deny := event.Decision{Verdict: event.Deny, Reason: "no"}
	for _, ev := range []event.Event{{Agent: "nobody", Native: "Whatever", Kind: event.ToolBefore},
		{Agent: "claude", Native: "Whatever", Kind: event.Other}, {}} {
		answer, sent := Builtin().Encode(&ev, deny)
		if answer != (neutral.Answer{}) || sent.Verdict != event.None || len(sent.Degraded) == 0 {
			t.Errorf("%+v: answer = %+v, sent = %+v; want answer = (neutral.Answer{}), sent.Verdict = event.None "+
				"and len(sent.Degraded) other than 0", ev, answer, sent)
		}
	}
}

// An agent nobody described hears a no by exit code 2, and never a yes.
func TestUnknownAgentsAreRefusedByExitCode(t *testing.T) {
	for _, native := range []string{"PreToolUse", "PermissionRequest"} {
		ev := Builtin().Decode(Input{Agent: "nobody", Event: native, Payload: []byte(`{"tool_name":"Bash"}`)})
		answer, sent := Builtin().Encode(&ev, event.Decision{Verdict: event.Deny, Reason: "not you"})
		if want := (neutral.Answer{Stderr: "not you", Exit: 2}); answer != want || sent.Verdict != event.Deny {
			t.Errorf("%s: a no is %+v, want %+v", native, answer, want)
		}
		answer, sent = Builtin().Encode(&ev, event.Decision{Verdict: event.Allow})
		if answer != (neutral.Answer{}) || sent.Verdict != event.None {
			t.Errorf("%s: a yes is %+v (%s), want silence", native, answer, sent.Verdict.Word())
		}
	}
}

func TestCarriesKnowsVersions(t *testing.T) {
	spec := EventSpec{Carries: Capabilities{
		Allow: &Capability{Since: "2.1.0"}, Deny: &Capability{}, Ask: &Capability{Until: "2.2"},
		Input: &Capability{Since: "3"},
	}}
	for version, want := range map[string]event.Carries{
		"":        {Allow: true, Deny: true, Input: true},
		"2.0.9":   {Deny: true, Ask: true},
		"2.1.325": {Allow: true, Deny: true, Ask: true},
		"2.10":    {Allow: true, Deny: true},
		"3.0.0-a": {Allow: true, Deny: true, Input: true},
	} {
		if got := spec.CarriesAt(version); got != want {
			t.Errorf("%s: spec.CarriesAt(version) = %+v, want %+v", version, got, want)
		}
	}
	if c := Builtin().Carries("codex-cli", "PreToolUse", ""); !c.Deny || c.Ask || c.Allow {
		t.Errorf("c = %+v, want c.Deny, not c.Ask and not c.Allow", c)
	}
	if Builtin().Carries("nobody", "PreToolUse", "") != (event.Carries{}) ||
		Builtin().Carries("claude", "Nope", "") != (event.Carries{}) {
		t.Error("claims about the unknown")
	}
}

// Of a changed input Codex takes the command and nothing else: what is lost is named,
// and a change that would be lost altogether refuses the call.
func TestChangedKeysThatAreNotTaken(t *testing.T) {
	for _, c := range []struct {
		input, verdict, note string
	}{
		{`{"command":"ls -l"}`, "modify", ""},
		{`{"command":"ls -l","timeout":9}`, "modify", "part of the changed input dropped: the agent takes no change of timeout"},
		{`{"timeout":9,"workdir":"/"}`, "deny", "changed input → deny: the agent takes no change of timeout, workdir"},
		{`{"command":"ls","timeout":5}`, "modify", ""}, // nothing is changed
	} {
		ev := Builtin().Decode(Input{Agent: "codex", Event: "PreToolUse",
			Payload: []byte(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls","timeout":5}}`)})
		_, sent := Builtin().Encode(&ev, event.Decision{Verdict: event.Modify,
			Input: json.RawMessage(c.input)})
		if got := strings.Join(sent.DegradedText(), "; "); sent.Verdict.Word() != c.verdict || got != c.note {
			t.Errorf("%s: %s, degraded %q; want %s, %q", c.input, sent.Verdict.Word(), got, c.verdict, c.note)
		}
	}
}

func TestShellToolsOfCodex(t *testing.T) {
	for _, name := range []string{"Bash", "shell", "local_shell", "shell_command"} {
		ev := Builtin().Decode(Input{Agent: "codex", Event: "PreToolUse", Payload: []byte(`{"session_id":"s","tool_name":"` +
			name + `","tool_input":{"command":["bash","-lc","make deploy"]}}`)})
		if ev.Tool.Kind != event.Shell || strings.Join(ev.Tool.Commands, ";") == "" {
			t.Errorf("%s is %s with the commands %q, want a shell with its command", name, ev.Tool.Kind, ev.Tool.Commands)
		}
	}
}

// Where a result says itself that it is an error, no record of the session is needed.
func TestErrorsInResults(t *testing.T) {
	for _, name := range []string{"codex", "codebuddy"} {
		for flag, want := range map[string]bool{"true": true, "false": false} {
			ev := Builtin().Decode(Input{Agent: name, Event: "PostToolUse", Payload: []byte(
				`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":{"is_error":` + flag + `}}`)})
			if ev.Tool.Failed != want {
				t.Errorf("%s, is_error %s: failed is %t, want %t", name, flag, ev.Tool.Failed, want)
			}
		}
	}
}
