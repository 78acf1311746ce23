package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// What a person is asked can be read without knowing the agent.
func TestQuestionsAreRead(t *testing.T) {
	database := []event.Option{{Label: "SQLite", Description: "Single file"},
		{Label: "Postgres", Description: "Server"}}
	for _, c := range []struct {
		agent, native, file string
		want                []event.Inquiry
	}{
		{"claude", "PermissionRequest", "PermissionRequest.AskUserQuestion.json",
			[]event.Inquiry{{Header: "Database", Text: "Which database should we use?", Options: database, Free: true}}},
		{"claude", "PreToolUse", "PreToolUse.AskUserQuestion.json",
			[]event.Inquiry{{Header: "Database", Text: "Which database should we use?", Options: database, Free: true}}},
		{"claude", "Elicitation", "Elicitation.json", []event.Inquiry{{ID: "colour", Text: "a colour", Free: true}}},
		{"codex", "PreToolUse", "PreToolUse.request_user_input.json",
			[]event.Inquiry{{ID: "db", Header: "Database", Text: "Which database?", Options: []event.Option{{Label: "SQLite (Recommended)", Description: "Single file"}, {Label: "Postgres", Description: "Server"}}, Free: true}}},
		{"opencode", "question.asked", "event.question.asked.json",
			[]event.Inquiry{{Header: "DB", Text: "Which db?", Options: []event.Option{{Label: "sqlite", Description: "small"}, {Label: "pg", Description: "big"}}, Free: true}}},
		{"claude", "PermissionRequest", "PermissionRequest.Bash.json", nil},
	} {
		ev := Builtin().Decode(Input{Agent: c.agent, Event: c.native, Payload: loadFixture(t, c.agent, c.file)})
		if !reflect.DeepEqual(ev.Questions, c.want) {
			t.Errorf("%s/%s:\n got %+v\nwant %+v", c.agent, c.file, ev.Questions, c.want)
		}
		if ev.Asks() != (c.want != nil) {
			t.Errorf("%s/%s: asks %v; want ev.Asks() == (c.want != nil)", c.agent, c.file, ev.Asks())
		}
	}
}

func TestFormsAreRead(t *testing.T) {
	schema := `{"type":"object","required":["size"],"properties":{
		"size":{"type":"string","enum":["s","l"],"enumNames":["small","large"],"title":"Size"},
		"gift":{"type":"boolean","description":"Wrap it?"},
		"tags":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b"}]}},
		"n":{"type":"integer"}}}`
	want := []event.Inquiry{
		{ID: "size", Header: "Size", Text: "Size", Options: []event.Option{{Label: "small", Value: "s"}, {Label: "large", Value: "l"}}},
		{ID: "gift", Text: "Wrap it?", Options: []event.Option{{Label: "yes", Value: "true"}, {Label: "no", Value: "false"}}, Optional: true},
		{ID: "tags", Text: "tags", Options: []event.Option{{Label: "A", Value: "a"}, {Label: "b"}}, Multi: true, Optional: true},
		{ID: "n", Text: "n", Free: true, Optional: true},
	}
	if got := readQuestions([]byte(schema)); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// A server may also ask for a yes without fields, or to have an address opened,
// which nobody can do from elsewhere.
func TestFormsWithoutFields(t *testing.T) {
	for payload, c := range map[string]struct {
		want       event.Inquiry
		answerable bool
		stdout     string
	}{
		`{"session_id":"s","mode":"url","url":"https://x.invalid","elicitation_id":"1"}`: {event.Inquiry{Header: "to be opened in a browser", Text: "https://x.invalid"}, false, ""},
		`{"session_id":"s","mode":"form","requested_schema":{"type":"object","properties":{}}}`: {event.Inquiry{Text: "nothing to fill in", Options: []event.Option{{Label: "accept"}}}, true,
			`{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{}}}`},
	} {
		ev := Builtin().Decode(Input{Agent: "claude", Event: "Elicitation", Payload: []byte(payload)})
		if len(ev.Questions) != 1 || !reflect.DeepEqual(ev.Questions[0], c.want) ||
			ev.Questions[0].Answerable() != c.answerable {
			t.Errorf("%s: ev.Questions = %+v, want 1 of them, ev.Questions[0] = %+v and "+
				"ev.Questions[0].Answerable() = %v", payload, ev.Questions, c.want, c.answerable)
			continue
		}
		if c.answerable {
			answer, d := Builtin().Encode(&ev, answered(event.QuestionAnswer{Options: []string{"accept"}}))
			if answer.Stdout != c.stdout {
				t.Errorf("%s: answer.Stdout = %s, d.Degraded = %+v; want answer.Stdout = %q",
					payload, answer.Stdout, d.Degraded, c.stdout)
			}
		}
	}
}

// What is no question is left out.
func TestOddQuestions(t *testing.T) {
	got := questionsOf([]byte(`{"questions":[{"question":"Sure?"},{"question":"Sure?","multiSelect":true,"options":["a",{"label":"b"},3]},7,{"header":"H"}]}`))
	if len(got) != 3 || got[2].Header != "H" || !got[1].Multi || len(got[1].Options) != 2 {
		t.Errorf(`got %+v, want 3 of them, got[2].Header = "H", got[1].Multi and len(got[1].Options) = 2`, got)
	}
	if got := questionsOf([]byte(`{"question":"Which?","choices":["x","y"],"allow_freeform":false}`)); len(got) != 1 ||
		got[0].Free || len(got[0].Options) != 2 {
		t.Errorf("got %+v, want 1 of them, not got[0].Free and len(got[0].Options) = 2", got)
	}
	for _, junk := range []string{`{}`, `null`, ``, `{"questions":"x"}`, `[1]`} {
		if got := questionsOf([]byte(junk)); got != nil {
			t.Errorf("%s: questionsOf([]byte(junk)) = %+v, want nil", junk, got)
		}
	}
}

func TestPlanAndSuggestionsAreRead(t *testing.T) {
	ev := Builtin().Decode(Input{Agent: "claude", Event: "PermissionRequest",
		Payload: loadFixture(t, "claude", "PermissionRequest.ExitPlanMode.json")})
	if ev.Plan != "# Plan\n\n1. Do A\n2. Do B\n" || !ev.Asks() {
		t.Errorf(`ev.Plan = %q, want "# Plan\n\n1. Do A\n2. Do B\n" and ev.Asks()`, ev.Plan)
	}
	ev = Builtin().Decode(Input{Agent: "claude", Event: "PermissionRequest",
		Payload: loadFixture(t, "claude", "PermissionRequest.Bash.json")})
	var offer struct{ Type string }
	if len(ev.Suggestions) != 1 || json.Unmarshal(ev.Suggestions[0], &offer) != nil || offer.Type != "addDirectories" {
		t.Errorf(`ev.Suggestions = %s, want 1 of them, no error and offer.Type = "addDirectories"`, ev.Suggestions)
	}
	ev = Builtin().Decode(Input{Agent: "opencode", Event: "permission.asked",
		Payload: loadFixture(t, "opencode", "event.permission.asked.bash.json")})
	// OpenCode's always lets all of them through, so they are one offer.
	if len(ev.Suggestions) != 1 || !strings.Contains(string(ev.Suggestions[0]), `"echo *"`) ||
		!strings.Contains(string(ev.Suggestions[0]), `"tee *"`) {
		t.Errorf("OpenCode offers %s, want one offer with both rules", ev.Suggestions)
	}
}
