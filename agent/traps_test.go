package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Each test here is one trap of an agent: something that looks like Claude Code's and is not, and would make hookmux
// approve, refuse or break what it must not.

// trapAgent returns an agent that has a trap.
func trapAgent(t *testing.T, name string) *Agent {
	t.Helper()
	a, ok := Builtin().Agent(name)
	if !ok {
		t.Fatalf("%s is not in the catalogue", name)
	}
	return a
}

// trapCall returns a recorded call of a tool, in the given version of the agent.
func trapCall(t *testing.T, name, fixture, version string) event.Event {
	t.Helper()
	ev := decodeFixture(t, name, fixture)
	if ev.Malformed != "" || ev.Tool == nil {
		t.Fatalf("%s %s: malformed %q, tool %v; want a call of a tool", name, fixture, ev.Malformed, ev.Tool)
	}
	ev.AgentVersion = version
	return ev
}

var trapDecisions = map[string]event.Decision{
	"no opinion": {},
	"allow":      {Verdict: event.Allow, Reason: "fine"},
	"deny":       {Verdict: event.Deny, Reason: "no\ntwo lines"},
	"ask":        {Verdict: event.Ask, Reason: "sure?"},
	"words":      {Context: "remember"},
	"keep going": {KeepGoing: true, Reason: "tests"},
}

// Junie approves a call when a hook says nothing: nothing is written there (TestJunieIsNotInstalled tries it).
func TestTrapJunieSilenceApproves(t *testing.T) {
	a := trapAgent(t, "junie")
	if a.Install != nil || a.NotInstalled == "" {
		t.Errorf("install is %v, reason %q; want nothing installed, and why", a.Install, a.NotInstalled)
	}
}

// Antigravity refuses a call over an empty answer, and allow would approve it: no opinion is ask.
func TestTrapAntigravityNeutralIsAsk(t *testing.T) {
	ev := trapCall(t, "antigravity", "PreToolUse.doc.json", "")
	answer, _ := Builtin().Encode(&ev, event.Decision{})
	row, _ := neutral.Lookup("antigravity", "PreToolUse")
	for what, got := range map[string]neutral.Answer{"the daemon's": answer, "the client's": row.Neutral} {
		if got.Stdout != `{"decision":"ask"}` || got.Exit != 0 {
			t.Errorf(`%s: %q, exit code %d; want {"decision":"ask"} and 0`, what, got.Stdout, got.Exit)
		}
	}
}

// One Claude Code entry in crush.json, hooks inside of a group, stops Crush from starting.
func TestTrapCrushNestedEntryStopsItsStart(t *testing.T) {
	if got := trapAgent(t, "crush").Install.Shape; got != ShapeFlat {
		t.Errorf("shape is %s, want %s", got, ShapeFlat)
	}
}

// A refusal ends Cline's whole run, and its exit code says nothing: the catalogue says the first, the answer is JSON.
func TestTrapClineDenyEndsTheRun(t *testing.T) {
	e, _ := trapAgent(t, "cline").Event("PreToolUse")
	if e.Carries.Deny == nil || !e.Carries.Deny.EndsRun {
		t.Errorf("deny is %+v, want one that ends the run", e.Carries.Deny)
	}
	ev := trapCall(t, "cline", "PreToolUse.json", "")
	answer, _ := Builtin().Encode(&ev, trapDecisions["deny"])
	if !strings.Contains(answer.Stdout, `"cancel":true`) || answer.Exit != 0 {
		t.Errorf("a refusal is %q, exit code %d; want cancel and 0", answer.Stdout, answer.Exit)
	}
}

// Goose 1.34 calls hooks and passes over what they say: nothing is claimed there, and newer ones are told.
func TestTrapGoose134CannotBlock(t *testing.T) {
	for version, want := range map[string]bool{"1.34.0": false, "1.35.0": true} {
		ev := trapCall(t, "goose", "PreToolUse.json", version)
		_, out := Builtin().Encode(&ev, trapDecisions["deny"])
		if got := out.Verdict == event.Deny; got != want {
			t.Errorf("version %s: refused is %v (%+v), want %v", version, got, out, want)
		}
	}
}

// Auggie's limits are milliseconds, and without a flag of the tenant no hook runs at all.
func TestTrapAuggieMillisecondsAndTenant(t *testing.T) {
	a := trapAgent(t, "auggie")
	if a.Install.Handler.Unit != "ms" || !strings.Contains(a.Install.Permit, "enable_hooks") {
		t.Errorf("unit is %q, permit %q; want ms, and enable_hooks named", a.Install.Handler.Unit, a.Install.Permit)
	}
}

// Rovo Dev does not wait for hooks: nothing is claimed, nothing is printed, and nobody is kept waiting.
func TestTrapRovoDevOnlyObserves(t *testing.T) {
	a := trapAgent(t, "rovodev")
	if a.Inbox != nil {
		t.Errorf("a request of it can be answered: %+v, want none", a.Inbox)
	}
	for _, e := range a.Events {
		if claims := e.Claims(); len(claims) > 0 {
			t.Errorf("%s: %d things are claimed, want none", e.Name, len(claims))
		}
	}
	ev := decodeFixture(t, "rovodev", "on_tool_start.doc.json")
	if answer, _ := Builtin().Encode(&ev, trapDecisions["deny"]); answer != (neutral.Answer{}) {
		t.Errorf("a refusal is %+v, want silence", answer)
	}
}

// An approval skips nothing in Hermes, and its word approve sends the call to a person: no approval is ever written.
func TestTrapHermesAllowSkipsNothing(t *testing.T) {
	ev := trapCall(t, "hermes", "pre_tool_call.doc.json", "")
	answer, _ := Builtin().Encode(&ev, trapDecisions["allow"])
	silent, _ := Builtin().Encode(&ev, event.Decision{})
	if answer != silent {
		t.Errorf("an approval is %+v, want as without an opinion: %+v", answer, silent)
	}
	if e, _ := trapAgent(t, "hermes").Event("pre_tool_call"); e.Carries.Allow != nil {
		t.Errorf("allow is claimed: %+v, want not", e.Carries.Allow)
	}
}

// Codex marks a hook that says ask as failed, and the tool runs; one unknown key does the same.
func TestTrapCodexIsNeverToldAsk(t *testing.T) {
	ev := trapCall(t, "codex", "PreToolUse.Bash.json", "")
	answer, out := Builtin().Encode(&ev, trapDecisions["ask"])
	if strings.Contains(answer.Stdout, `"ask"`) || out.Verdict != event.Deny {
		t.Errorf("a question is %q (%s), want a refusal", answer.Stdout, out.Verdict)
	}
}

// With a hook at PreToolUse other clients of Kimi than its terminal approve every call.
func TestTrapKimiPreToolUseIsChosenByAPerson(t *testing.T) {
	for event, want := range map[string]Install{"PreToolUse": InstallOptional, "SessionHeartbeat": InstallNever} {
		if e, _ := trapAgent(t, "kimi").Event(event); e == nil || e.Install != want {
			t.Errorf("%s: %+v, want install %s", event, e, want)
		}
	}
	if !trapAgent(t, "kimi").Install.Handler.Strict {
		t.Error("one unknown key makes Kimi pass over all hooks, and the catalogue does not say so")
	}
}

// Copilot refuses a call over a hook that fails, so a missing program must answer.
func TestTrapCopilotRefusesOverAFailure(t *testing.T) {
	if got := trapAgent(t, "copilot").Install.Missing; got != MissingClosed {
		t.Errorf("without the program it goes %s, want %s", got, MissingClosed)
	}
}

// Cursor's permission events refuse over text that is no JSON; Qoder throws away an output that does not name its
// event; Gemini reads stderr where stdout is empty; Droid ends a run at exit code 3, Crush a turn at 49, and Grok keeps
// the first line of stderr only. So every answer of every agent is silent or one JSON text or plain words where these
// are read, with 0 or 2, and Grok's reasons are one line.
func TestTrapAnswersKeepToWhatIsRead(t *testing.T) {
	for _, f := range fixtures(t) {
		a := trapAgent(t, f.agent)
		ev := Builtin().Decode(Input{Agent: f.agent, Event: f.event, Payload: f.payload})
		e, ok := a.Event(ev.Native)
		if !ok {
			continue
		}
		for what, d := range trapDecisions {
			answer, _ := Builtin().Encode(&ev, d)
			if answer.Exit != 0 && answer.Exit != 2 {
				t.Errorf("%s %s, %s: exit code %d, want 0 or 2", f.agent, f.event, what, answer.Exit)
			}
			if text := answer.Stdout; text != "" && !json.Valid([]byte(text)) && !e.PlainStdout {
				t.Errorf("%s %s, %s: stdout %q is no JSON, and nothing else is read there", f.agent, f.event, what, text)
			}
			if f.agent == "grok" && strings.Contains(strings.TrimSpace(answer.Stderr), "\n") {
				t.Errorf("%s %s, %s: stderr %q, want one line", f.agent, f.event, what, answer.Stderr)
			}
			if what == "no opinion" && answer.Stderr != "" {
				t.Errorf("%s %s: without an opinion stderr is %q, want nothing", f.agent, f.event, answer.Stderr)
			}
			if f.agent == "qoder" && strings.Contains(answer.Stdout, "hookSpecificOutput") &&
				!strings.Contains(answer.Stdout, `"hookEventName":"`+f.event+`"`) {
				t.Errorf("%s %s, %s: %s does not name its event", f.agent, f.event, what, answer.Stdout)
			}
		}
	}
}

// Grok gives up after five seconds and Gemini, Qwen and Auggie count in milliseconds: where a person may be waited for,
// the limit is written down.
func TestTrapLimitsAreWritten(t *testing.T) {
	for _, a := range Builtin().Agents() {
		if a.Install == nil || !a.Install.TakesEntries() || a.Inbox == nil || a.Install.Handler.Timeout == "" {
			continue
		}
		for point := range a.Inbox.Points {
			if e, ok := a.Event(point); ok && e.InstallTimeout <= 0 && slices.Contains([]Install{InstallDefault,
				InstallOptional}, e.Install) && a.Inbox.Wait == WaitFull {
				t.Errorf("%s %s: a person is waited for, and the limit is the agent's own: %v", a.Name, point, e.Timeout)
			}
		}
	}
}
