package event

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func drawAnswer(t *rapid.T) *Answer {
	if rapid.Bool().Draw(t, "nobody answered") {
		return nil
	}
	a := &Answer{
		Choice:   rapid.SampledFrom(Choices()).Draw(t, "choice"),
		Note:     rapid.SampledFrom([]string{"", "a note"}).Draw(t, "note"),
		Feedback: rapid.SampledFrom([]string{"", "smaller steps"}).Draw(t, "feedback"),
	}
	if a.Choice == ChoosePlan {
		a.Plan = rapid.SampledFrom(PlanModes()).Draw(t, "plan")
	}
	if a.Choice == ChooseAnswer {
		a.Answers = []QuestionAnswer{{Question: "which?", Options: []string{"a", "b"}}, {ID: "2", Text: "own words"}}
	}
	if a.Choice == ChooseAlways && rapid.Bool().Draw(t, "suggested") {
		a.Suggestion = raw(`{"type":"addRules"}`)
	}
	return a
}

func TestAnswerGoesWithItsVerdict(t *testing.T) {
	input := raw(`{"a":1}`)
	once, no := &Answer{Choice: ChooseOnce}, &Answer{Choice: ChooseDeny}
	rejected := &Answer{Choice: ChoosePlan, Plan: PlanReject, Feedback: "smaller"}
	accepted := &Answer{Choice: ChoosePlan, Plan: PlanAuto}
	for _, c := range []struct {
		name     string
		opinions []Decision
		want     *Answer
	}{
		{"yes", []Decision{{Verdict: Allow, Answer: once}}, once},
		{"yes after a hook's yes", []Decision{{Verdict: Allow}, {Verdict: Allow, Answer: once}}, once},
		{"yes, then a hook's no", []Decision{{Verdict: Allow, Answer: once}, {Verdict: Deny}}, nil},
		{"no", []Decision{{Verdict: Ask}, {Verdict: Deny, Answer: no}}, no},
		{"a hook's no is not the user's", []Decision{{Verdict: Deny, By: "a"}, {Verdict: Deny, Answer: no}}, nil},
		{"yes to a changed call", []Decision{{Verdict: Modify, Input: input}, {Verdict: Allow, Answer: once}}, once},
		{"changed after the yes", []Decision{{Verdict: Allow, Answer: once}, {Verdict: Modify, Input: input, Allowed: true}}, nil},
		{"a plan rejected", []Decision{{Verdict: Deny, Answer: rejected}}, rejected},
		{"a plan accepted", []Decision{{Verdict: Allow, Answer: accepted}}, accepted},
		{"a yes beside a deny", []Decision{{Verdict: Deny, Answer: once}}, nil},
		{"a rejected plan beside an allow", []Decision{{Verdict: Allow, Answer: rejected}}, nil},
		{"an answer to nothing", []Decision{{Answer: once}}, nil},
	} {
		if got := merged(c.opinions...).Answer; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if d := Degrade(Decision{Verdict: Allow, Answer: once}, Carries{Deny: true}); d.Answer != nil || d.Verdict != None {
		t.Errorf("a yes the agent does not take: %+v", d)
	}
	if d := Degrade(Decision{Verdict: Modify, Allowed: true, Input: input, Answer: once},
		Carries{Allow: true, Deny: true}); d.Answer != nil || d.Verdict != Deny {
		t.Errorf("a yes to a change the agent does not take: %+v", d)
	}
	if d := Degrade(Decision{Verdict: Deny, Reason: "no", Answer: no}, Carries{Deny: true}); d.Answer == nil {
		t.Errorf("a no: %+v; want d.Answer != nil", d)
	}
}

func TestMergedAnswerIsACopy(t *testing.T) {
	mine := &Answer{Choice: ChooseAnswer, Answers: []QuestionAnswer{{Question: "q", Options: []string{"a"}}},
		Suggestion: raw("{}")}
	got := merged(Decision{Verdict: Allow, Answer: mine})
	got.Answer.Answers[0].Options[0] = "z"
	got.Answer.Suggestion[0] = '['
	if mine.Answers[0].Options[0] != "a" || mine.Suggestion[0] != '{' {
		t.Errorf(`mine = %+v, want mine.Answers[0].Options[0] = "a" and mine.Suggestion[0] = '{'`, mine)
	}
}

func TestAnswerJSON(t *testing.T) {
	d := Decision{Verdict: Allow, Answer: &Answer{
		Choice:     ChooseAlways,
		Answers:    []QuestionAnswer{{ID: "q1", Question: "which?", Options: []string{"a"}, Text: "b"}},
		Suggestion: raw(`{"type":"addRules"}`),
	}}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"verdict":"allow","answer":{"choice":"always","answers":[{"id":"q1","question":"which?","options":["a"],"text":"b"}],"suggestion":{"type":"addRules"}}}`
	if string(b) != want {
		t.Errorf("b = %s, want %q", b, want)
	}
	var back Decision
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("back = %+v, error %v; want no error and back = %+v", back, err, d)
	}
	if b, err = json.Marshal(Decision{Verdict: Allow,
		Answer: &Answer{Choice: ChooseAlways, Suggestion: raw(`{"cut`)}}); err != nil || !json.Valid(b) {
		t.Errorf("a broken suggestion: %s, %v", b, err)
	}
}

func TestWords(t *testing.T) {
	if got := (QuestionAnswer{Options: []string{"a", "b"}}).Words(); got != "a, b" {
		t.Errorf(`got %q, want "a, b"`, got)
	}
	if got := (QuestionAnswer{Options: []string{"a"}, Text: "mine"}).Words(); got != "mine" {
		t.Errorf(`got %q, want "mine"`, got)
	}
	if !ChooseAll.Known() || Choice("maybe").Known() || !PlanManual.Known() || PlanMode("").Known() {
		t.Error(`known; want ChooseAll.Known(), !Choice("maybe").Known(), PlanManual.Known() and ` +
			`!PlanMode("").Known()`)
	}
}
