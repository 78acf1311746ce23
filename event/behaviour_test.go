package event

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDenialSaysWhoWhyAndHow(t *testing.T) {
	for _, c := range []struct{ who, reason, allow, want string }{
		{"guard.x", "it deletes", "", "hookmux: guard.x stopped this: it deletes."},
		{"guard.x", "it deletes.", "run y.", "hookmux: guard.x stopped this: it deletes. run y."},
		{"a\nb", "one\ntwo", "three\nfour", "hookmux: a b stopped this: one two. three four."},
	} {
		got := Denial(c.who, c.reason, c.allow)
		if got != c.want {
			t.Errorf("Denial(%q, %q, %q) = %q, want %q", c.who, c.reason, c.allow, got, c.want)
		}
		if strings.Contains(got, "\n") {
			t.Errorf("%q is not one line", got)
		}
	}
}

// A model can let nothing pass: it is not told how.
func TestRuleDenialTellsTheModelNoCommand(t *testing.T) {
	if got := RuleDenial("a.b", "no", "x"); got != "hookmux: a.b stopped this: no [x]." {
		t.Errorf("the model reads %q", got)
	}
}

func TestShortDenial(t *testing.T) {
	for text, want := range map[string]string{
		RuleDenial("destructive.rm-broad", "deletes ~/ (the home directory)", "rm -rf ~/"): "destructive.rm-broad: " +
			"deletes ~/ (the home directory)",
		// As earlier versions wrote it.
		Denial("module gate.ts", "no", ""): "module gate.ts: no",
		Denial("hook x", "no", "Run y"):    "hook x: no. Run y",
		"no prod deploys":                  "no prod deploys",
		"it stopped this: that":            "it stopped this: that",
		"hookmux: hello":                   "hookmux: hello",
		"it stopped this: hookmux: ":       "it stopped this: hookmux: ",
		"":                                 "",
	} {
		if got := ShortDenial(text); got != want {
			t.Errorf("ShortDenial(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestInquiriesThatCanBeAnswered(t *testing.T) {
	for _, c := range []struct {
		q    Inquiry
		want bool
	}{
		{Inquiry{}, false}, {Inquiry{Free: true}, true}, {Inquiry{Options: []Option{{Label: "a"}}}, true},
		{Inquiry{Optional: true, Multi: true, Text: "x"}, false},
	} {
		if got := c.q.Answerable(); got != c.want {
			t.Errorf("%+v is answerable: %v, want %v", c.q, got, c.want)
		}
	}
}

func TestReviewedByAgent(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		reviewer Reviewer
		want     bool
	}{
		{PermissionRequest, ReviewerAgent, true}, {PermissionRequest, ReviewerUser, false},
		{PermissionRequest, "", false}, {ToolBefore, ReviewerAgent, false},
	} {
		if got := (&Event{Kind: c.kind, Reviewer: c.reviewer}).ReviewedByAgent(); got != c.want {
			t.Errorf("%s reviewed by %q: %v, want %v", c.kind, c.reviewer, got, c.want)
		}
	}
}

// Only calls that guards look at can be unreadable; a cut payload is one only
// where the input was cut away with it.
func TestUnreadableCalls(t *testing.T) {
	input := &Tool{Input: json.RawMessage(`{"command":"ls"}`)}
	for name, c := range map[string]struct {
		ev   Event
		want bool
	}{
		"whole":                 {Event{Kind: ToolBefore, Tool: input}, false},
		"malformed":             {Event{Kind: ToolBefore, Tool: input, Malformed: "x"}, true},
		"malformed permission":  {Event{Kind: PermissionRequest, Malformed: "x"}, true},
		"malformed afterwards":  {Event{Kind: ToolAfter, Malformed: "x"}, false},
		"cut, with input":       {Event{Kind: ToolBefore, Tool: input, Truncated: true}, false},
		"cut, without input":    {Event{Kind: ToolBefore, Tool: &Tool{}, Truncated: true}, true},
		"cut, without a tool":   {Event{Kind: ToolBefore, Truncated: true}, true},
		"cut afterwards":        {Event{Kind: ToolAfter, Truncated: true}, false},
		"no tool, and not cut":  {Event{Kind: ToolBefore}, false},
		"a turn that is ending": {Event{Kind: TurnEnd, Truncated: true, Malformed: "x"}, false},
	} {
		if got := c.ev.Unreadable(); (got != "") != c.want {
			t.Errorf("%s: unreadable because of %q, want a reason: %v", name, got, c.want)
		}
	}
}

func TestNormalizedPartsFit(t *testing.T) {
	in := json.RawMessage(`{"a":1}`)
	null := json.RawMessage(`null`)
	for name, c := range map[string]struct{ d, want Decision }{
		"null is no input":       {Decision{Verdict: Modify, Input: null}, Decision{}},
		"null is no output":      {Decision{Output: null}, Decision{}},
		"modify without input":   {Decision{Verdict: Modify}, Decision{}},
		"allowed without input":  {Decision{Verdict: Modify, Allowed: true}, Decision{Verdict: Allow}},
		"allow with input":       {Decision{Verdict: Allow, Input: in}, Decision{Verdict: Modify, Allowed: true, Input: in}},
		"input alone":            {Decision{Input: in}, Decision{Verdict: Modify, Input: in}},
		"allowed input, no word": {Decision{Input: in, Allowed: true}, Decision{Verdict: Modify, Input: in}},
		"modify with input":      {Decision{Verdict: Modify, Input: in}, Decision{Verdict: Modify, Input: in}},
		"deny is not allowed":    {Decision{Verdict: Deny, Allowed: true}, Decision{Verdict: Deny}},
		"ask with input stays":   {Decision{Verdict: Ask, Input: in}, Decision{Verdict: Ask, Input: in}},
	} {
		got := c.d.Normalized()
		if got.Verdict != c.want.Verdict || got.Allowed != c.want.Allowed ||
			string(got.Input) != string(c.want.Input) ||
			string(got.Output) != string(c.want.Output) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A stronger verdict brings its own reason, even an empty one; a weaker one
// changes nothing; what keeps an agent going is said by everybody.
func TestReasonsFollowTheVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		first, second Decision
		want          string
	}{
		"stronger":            {Decision{Verdict: Allow, Reason: "fine"}, Decision{Verdict: Deny, Reason: "no"}, "no"},
		"stronger, silent":    {Decision{Verdict: Allow, Reason: "fine"}, Decision{Verdict: Deny}, ""},
		"weaker":              {Decision{Verdict: Deny, Reason: "no"}, Decision{Verdict: Allow, Reason: "fine"}, "no"},
		"weaker after silent": {Decision{Verdict: Deny}, Decision{Verdict: Allow, Reason: "fine"}, ""},
		"equal, first silent": {Decision{Verdict: Deny}, Decision{Verdict: Deny, Reason: "no"}, "no"},
		"equal, both speak":   {Decision{Verdict: Deny, Reason: "a"}, Decision{Verdict: Deny, Reason: "b"}, "a"},
		"going on, both": {Decision{KeepGoing: true, Reason: "a"}, Decision{KeepGoing: true, Reason: "b"},
			"a\nb"},
		"going on, one silent":  {Decision{KeepGoing: true}, Decision{KeepGoing: true, Reason: "b"}, "b"},
		"going on, other quiet": {Decision{KeepGoing: true, Reason: "a"}, Decision{KeepGoing: true}, "a"},
	} {
		got := c.first
		got.Merge(c.second)
		if got.Reason != c.want {
			t.Errorf("%s: %q, want %q", name, got.Reason, c.want)
		}
	}
}

func TestEventsThatAsk(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		tool *Tool
		want bool
	}{
		{UserQuestion, nil, true}, {UserPlan, nil, true}, {ToolBefore, nil, false}, {PermissionRequest, nil, false},
		{ToolBefore, &Tool{Kind: Question}, true}, {ToolBefore, &Tool{Kind: Plan}, true},
		{ToolBefore, &Tool{Kind: Shell}, false}, {PermissionRequest, &Tool{Kind: Question}, true},
		{PermissionRequest, &Tool{Kind: Plan}, true}, {ToolAfter, &Tool{Kind: Question}, false},
		{TurnEnd, &Tool{Kind: Plan}, false},
	} {
		if got := (&Event{Kind: c.kind, Tool: c.tool}).Asks(); got != c.want {
			t.Errorf("%s with %+v asks: %v, want %v", c.kind, c.tool, got, c.want)
		}
	}
}

// An answer is found by the agent's id, else by the words, else by its place.
func TestAnswersFindTheirQuestion(t *testing.T) {
	byID := QuestionAnswer{ID: "1", Question: "other words"}
	byWords := QuestionAnswer{Question: "which?"}
	byPlace := QuestionAnswer{Text: "here"}
	for name, c := range map[string]struct {
		answer *Answer
		q      Inquiry
		at     int
		want   QuestionAnswer
		found  bool
	}{
		"no answer":               {nil, Inquiry{ID: "1"}, 0, QuestionAnswer{}, false},
		"by id":                   {&Answer{Answers: []QuestionAnswer{byWords, byID}}, Inquiry{ID: "1"}, 0, byID, true},
		"another id":              {&Answer{Answers: []QuestionAnswer{byID}}, Inquiry{ID: "2"}, 0, QuestionAnswer{}, false},
		"by words":                {&Answer{Answers: []QuestionAnswer{byID, byWords}}, Inquiry{Text: "which?"}, 0, byWords, true},
		"words of one with id":    {&Answer{Answers: []QuestionAnswer{byID}}, Inquiry{Text: "other words"}, 0, QuestionAnswer{}, false},
		"other words":             {&Answer{Answers: []QuestionAnswer{byWords}}, Inquiry{Text: "what?"}, 0, QuestionAnswer{}, false},
		"by place":                {&Answer{Answers: []QuestionAnswer{byWords, byPlace}}, Inquiry{Text: "what?"}, 1, byPlace, true},
		"by place, with an id":    {&Answer{Answers: []QuestionAnswer{byPlace}}, Inquiry{ID: "1"}, 0, byPlace, true},
		"a place too far":         {&Answer{Answers: []QuestionAnswer{byPlace}}, Inquiry{Text: "what?"}, 1, QuestionAnswer{}, false},
		"no words, but a place":   {&Answer{Answers: []QuestionAnswer{byPlace}}, Inquiry{}, 0, byPlace, true},
		"no words, another place": {&Answer{Answers: []QuestionAnswer{byPlace}}, Inquiry{}, 3, QuestionAnswer{}, false},
	} {
		got, found := c.answer.AnswerTo(&c.q, c.at)
		if found != c.found || got.ID != c.want.ID || got.Question != c.want.Question || got.Text != c.want.Text {
			t.Errorf("%s: %+v %v, want %+v %v", name, got, found, c.want, c.found)
		}
	}
}
