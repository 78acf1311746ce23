package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/event"
)

func chose(c event.Choice) *event.Answer { return &event.Answer{Choice: c} }

func answered(list ...event.QuestionAnswer) event.Decision {
	return event.Decision{Verdict: event.Allow, Answer: &event.Answer{Choice: event.ChooseAnswer, Answers: list}}
}

func planReply(mode event.PlanMode, feedback string) event.Decision {
	d := event.Decision{Verdict: event.Allow, Answer: &event.Answer{Choice: event.ChoosePlan, Plan: mode,
		Feedback: feedback}}
	if mode == event.PlanReject {
		d.Verdict, d.Reason = event.Deny, feedback
	}
	return d
}

func suggested(s string) event.Decision {
	return event.Decision{Verdict: event.Allow, Answer: &event.Answer{Choice: event.ChooseAlways, Suggestion: js(s)}}
}

const database = "Which database should we use?"

// answerCases: what a person answered, in the words the real agent took.
var answerCases = []oracleCase{
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseOnce)}, "perm_allow", "yes", "ran-ok"},
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseAlways)}, "perm_allow", "yes", "ran-ok"},
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseAll)}, "perm_allow", "yes", "ran-ok"},
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseBypass)}, "perm_allow", "yes", "ran-ok"},
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Deny, Reason: "lab says no", Answer: chose(event.ChooseDeny)}, "perm_deny", "no", "lab says no"},
	{"claude", "PermissionRequest.Bash.json", suggested(`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"echo:*"}],"behavior":"allow","destination":"localSettings"}`), "perm_allow_perms", "yes", "ran-ok"},
	{"claude", "PermissionRequest.Bash.json", suggested(`{"type":"setMode","mode":"acceptEdits","destination":"session"}`), "perm_allow_mode", "yes", "ran-ok"},
	{"claude", "PermissionRequest.AskUserQuestion.json", answered(event.QuestionAnswer{Question: database, Options: []string{"SQLite"}}), "aq_pr", "yes", "SQLite"},
	{"claude", "PermissionRequest.AskUserQuestion.json", answered(event.QuestionAnswer{Options: []string{"SQLite"}}), "aq_pr", "yes", "SQLite"},
	{"claude", "PermissionRequest.AskUserQuestion.json", answered(event.QuestionAnswer{Question: database, Text: "SQLite"}), "aq_pr", "yes", "SQLite"},
	{"claude", "PreToolUse.AskUserQuestion.json", answered(event.QuestionAnswer{Question: database, Options: []string{"SQLite"}}), "aq_pre", "yes", "SQLite"},
	{"claude", "PermissionRequest.ExitPlanMode.json", planReply(event.PlanAccept, ""), "pl_allow_upd", "yes", "approved your plan"},
	{"claude", "PermissionRequest.ExitPlanMode.json", planReply(event.PlanReject, "Please revise step 2"), "pl_deny", "no", "revise step 2"},
	{"claude", "Elicitation.json", answered(event.QuestionAnswer{ID: "colour", Text: "green"}), "el_accept", "", "green"},
	{"claude", "Elicitation.json", event.Decision{Verdict: event.Deny, Reason: "not carried", Answer: chose(event.ChooseDeny)}, "el_decline", "", "decline"},
	{"codex", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseAll)}, "zp_sleepallow", "yes", "ran-ok"},
	{"codex", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Deny, Reason: "hook says no", Answer: chose(event.ChooseDeny)}, "zp_deny", "no", "hook says no"},
	{"opencode", "event.permission.asked.bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseOnce)}, "plugin answers via raw", "yes", "hello"},
	{"opencode", "event.permission.asked.bash.json", event.Decision{Verdict: event.Deny, Reason: "hookmux says no", Answer: chose(event.ChooseDeny)}, "plugin rejects with msg", "no", "feedback: hookmux says no"},
	{"opencode", "event.permission.asked.bash.json", suggested(`"echo *"`), "plugin answers always", "yes", ""},
	{"opencode", "event.question.asked.json", answered(event.QuestionAnswer{Question: "Which db?", Options: []string{"sqlite"}}), "question reply", "", "sqlite"},
	{"qwen", "PermissionRequest.run_shell_command.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseAlways)}, "tui: allow", "", ""},
	{"codebuddy", "PermissionRequest.sdk-allow.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseAlways)}, "canUseTool not asked", "", ""},
	{"codebuddy", "PermissionRequest.sdk-allow.json", suggested(`{"rule":{"toolName":"Bash"},"behavior":"allow"}`), "canUseTool not asked", "", ""},
	{"copilot", "permissionRequest.bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseAlways)}, "PR allow, no allow-all", "yes", ""},
}

// unprovenAnswers: forms made of parts that were each taken.
var unprovenAnswers = []unprovenCase{
	{"claude", "PermissionRequest.ExitPlanMode.json", planReply(event.PlanAuto, ""),
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}}}`,
		"the run had an edited plan beside the mode (pl_allow_upd2)"},
	{"claude", "PermissionRequest.ExitPlanMode.json", planReply(event.PlanManual, ""),
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}}}`,
		"the same with another mode"},
	{"claude", "PermissionRequest.ExitPlanMode.json", planReply(event.PlanAccept, "test it"),
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"plan":"# Plan\n\n1. Do A\n2. Do B\n\nThe user adds: test it\n","planFilePath":"/home/user/.claude/plans/plan-plan2-eventual-sifakis.md"}}}}`,
		"an edited plan was taken, with a mode beside it (pl_allow_upd2)"},
	{"pi", "tool_call.bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseOnce)}, `{"allow":true}`, "the extension takes it out: nothing is returned to pi"},
	{"codex", "PreToolUse.request_user_input.json", answered(event.QuestionAnswer{ID: "db", Options: []string{"Postgres"}}),
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user has answered, do not ask again: \"Which database?\" = \"Postgres\""}}`,
		"a refusal with another reason (xp_deny)"},
}

// What cannot be carried is said.
func TestAnswersThatCannotBeCarried(t *testing.T) {
	for _, c := range []struct {
		agent, fixture string
		decision       event.Decision
		degraded       string // part of what is said
	}{
		{"gemini", "BeforeTool.run_shell_command.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseOnce)}, "does not take an approval"},
		{"grok", "PreToolUse.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseOnce)}, "does not take an approval"},
		{"kimi", "PreToolUse.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseOnce)}, "does not take an approval"},
		{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseOnce)}, "does not take an approval"},
		{"codex", "PermissionRequest.Bash.json", suggested(`{"a":1}`), "this call only"},
		{"claude", "PreToolUse.Bash.json", suggested(`{"a":1}`), "this call only"},
		{"claude", "PreToolUse.ExitPlanMode.json", planReply(event.PlanAuto, ""), "plan mode dropped"},
		{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Answer: &event.Answer{Choice: event.ChooseOnce, Note: "mind the gap"}}, "context dropped"},
		{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Answer: chose(event.ChooseBypass)}, "bypass"},
		{"claude", "PermissionRequest.AskUserQuestion.json", answered(), "does not answer a question"},
		{"claude", "PermissionRequest.AskUserQuestion.json", answered(event.QuestionAnswer{Question: "Another?", Options: []string{"x"}}), "does not answer a question"},
		{"opencode", "event.question.asked.json", event.Decision{Verdict: event.Allow}, "does not answer a question"},
		{"claude", "Elicitation.json", answered(event.QuestionAnswer{ID: "shape", Text: "round"}), "the form is not filled"},
	} {
		ev := decodeFixture(t, c.agent, c.fixture)
		_, sent := Builtin().Encode(&ev, c.decision)
		if !strings.Contains(strings.Join(sent.DegradedText(), "\n"), c.degraded) {
			t.Errorf("%s %s %+v: degraded %q does not say %q", c.agent, c.fixture, c.decision.Answer, sent.Degraded,
				c.degraded)
		}
	}
}

// Every answer goes to its own question, whatever is left out, doubled or
// told twice.
func TestAnswersGoToTheirQuestions(t *testing.T) {
	questions := `{"questions":[{"question":"A?","multiSelect":true,"options":[{"label":"a1"},{"label":"a2"}]},{"question":"B?","options":[{"label":"b1"}]},{"question":"C \"quoted\"?"}]}`
	ev := Builtin().Decode(Input{Agent: "claude", Event: "PermissionRequest",
		Payload: []byte(`{"session_id":"s","tool_name":"AskUserQuestion","tool_input":` + questions + `}`)})
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{}
		var list []event.QuestionAnswer
		for _, q := range ev.Questions {
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 1:
				list = append(list, event.QuestionAnswer{Question: q.Text, Text: "own words"})
				want[q.Text] = "own words"
			case 2:
				list = append(list, event.QuestionAnswer{Question: q.Text, Options: []string{"x", "y"}})
				want[q.Text] = "x, y"
			case 3:
				list = append(list, event.QuestionAnswer{Question: q.Text, Options: []string{"x"}, Text: "more"})
				want[q.Text] = "x, more"
			}
		}
		slices.Reverse(list) // the order says nothing where words do
		answer, sent := Builtin().Encode(&ev, answered(list...))
		if len(want) == 0 {
			if sent.Verdict != event.None {
				t.Fatalf("an answer of nothing: %s", answer.Stdout)
			}
			return
		}
		var got struct {
			Out struct {
				Decision struct {
					Behavior string
					Input    struct {
						Questions json.RawMessage
						Answers   map[string]string
					} `json:"updatedInput"`
				}
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal([]byte(answer.Stdout), &got); err != nil {
			t.Fatal(err)
		}
		in := got.Out.Decision.Input
		if got.Out.Decision.Behavior != "allow" || len(in.Questions) == 0 || len(in.Answers) != len(want) {
			t.Fatalf(`answer.Stdout = %s, want got.Out.Decision.Behavior = "allow", len(in.Questions) other than 0 `+
				`and len(in.Answers) = len(want)`, answer.Stdout)
		}
		for q, a := range want {
			if in.Answers[q] != a {
				t.Fatalf("%q: %q, want %q", q, in.Answers[q], a)
			}
		}
	})
}

func TestFormsAreFilledInTheirTypes(t *testing.T) {
	payload := `{"session_id":"s","hook_event_name":"Elicitation","mcp_server_name":"m","message":"?","mode":"form","requested_schema":{"type":"object","required":["size"],"properties":{
		"size":{"type":"string","enum":["s","l"],"enumNames":["small","large"]},"gift":{"type":"boolean"},"n":{"type":"integer"},"w":{"type":"number"},"tags":{"type":"array","items":{"enum":["a","b"]}}}}}`
	ev := Builtin().Decode(Input{Agent: "claude", Event: "Elicitation", Payload: []byte(payload)})
	pick := func(id string, labels ...string) event.QuestionAnswer {
		return event.QuestionAnswer{ID: id, Options: labels}
	}
	wrote := func(id, text string) event.QuestionAnswer { return event.QuestionAnswer{ID: id, Text: text} }
	for _, c := range []struct {
		name    string
		answers []event.QuestionAnswer
		content string // "" when it must not be accepted
	}{
		{"all", []event.QuestionAnswer{pick("size", "large"), pick("gift", "yes"), wrote("n", "3"), wrote("w", "2.50"), pick("tags", "a", "b")}, `{"size":"l","gift":true,"n":3,"w":2.5,"tags":["a","b"]}`},
		{"what must be there", []event.QuestionAnswer{pick("size", "small")}, `{"size":"s"}`},
		{"not what must be there", []event.QuestionAnswer{pick("gift", "no")}, ""},
		{"no number", []event.QuestionAnswer{pick("size", "small"), wrote("n", "many")}, ""},
		{"two sizes", []event.QuestionAnswer{pick("size", "small", "large")}, ""},
	} {
		answer, _ := Builtin().Encode(&ev, answered(c.answers...))
		want := ""
		if c.content != "" {
			want = `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":` + c.content +
				`}}`
		}
		if answer.Stdout != want {
			t.Errorf("%s: %s\nwant %s", c.name, answer.Stdout, want)
		}
	}
}
