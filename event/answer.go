package event

import (
	"encoding/json"
	"slices"
	"strings"
)

// Choice is the answer you chose when you were asked.
type Choice string

// The choices. Which of them exist for an agent and a request is data in the
// catalogue.
const (
	ChooseOnce   Choice = "once"   // this call
	ChooseAlways Choice = "always" // this call, and calls like it: a permission of hookmux, or the agent's own suggestion
	ChooseAll    Choice = "all"    // this call, and every further one of the session
	ChooseBypass Choice = "bypass" // this call, and the agent stops asking: its own mode is switched
	ChooseDeny   Choice = "deny"
	ChooseAnswer Choice = "answer" // questions were answered
	ChoosePlan   Choice = "plan"   // a plan was decided on
)

// Choices lists every choice.
func Choices() []Choice {
	return []Choice{ChooseOnce, ChooseAlways, ChooseAll, ChooseBypass, ChooseDeny, ChooseAnswer, ChoosePlan}
}

// Known reports whether c is one of [Choices].
func (c Choice) Known() bool { return slices.Contains(Choices(), c) }

// PlanMode is how you decided on a plan.
type PlanMode string

// The ways to decide on a plan.
const (
	PlanAccept PlanMode = "accept" // go on in the mode the agent was in before it planned
	PlanAuto   PlanMode = "auto"   // go on, edits need no further leave
	PlanManual PlanMode = "manual" // go on, each edit asks
	PlanReject PlanMode = "reject" // keep planning
)

// PlanModes lists every way to decide on a plan.
func PlanModes() []PlanMode { return []PlanMode{PlanAccept, PlanAuto, PlanManual, PlanReject} }

// Known reports whether m is one of [PlanModes].
func (m PlanMode) Known() bool { return slices.Contains(PlanModes(), m) }

// Answer is your reply to a request, before it is encoded for an agent. It
// accompanies a verdict and never contradicts it: Allow or an approved Modify
// for a yes, an answered question or an accepted plan; Deny for a no or a
// rejected plan, with your text as the decision's Reason.
type Answer struct {
	Choice Choice `json:"choice"`

	// Answers holds one answer for each question that was put, in their order.
	Answers []QuestionAnswer `json:"answers,omitempty"`

	Plan PlanMode `json:"plan,omitempty"`
	// Feedback says what you want changed about a plan. It is also the Reason of a
	// rejected one.
	Feedback string `json:"feedback,omitempty"`

	// Note is said to the model beside an approval.
	Note string `json:"note,omitempty"`

	// Suggestion is the agent's own suggestion that you accepted, as the agent
	// sent it. If it is empty with [ChooseAlways], hookmux keeps the permission
	// and the agent learns about this call only.
	Suggestion json.RawMessage `json:"suggestion,omitempty"`
}

// QuestionAnswer is the answer to one question.
type QuestionAnswer struct {
	ID       string   `json:"id,omitempty"`       // the agent's key of the question, where it has one
	Question string   `json:"question,omitempty"` // the question's text, which is the key where there is none
	Options  []string `json:"options,omitempty"`  // the labels that were chosen
	Text     string   `json:"text,omitempty"`     // the user's own words
}

// Words returns the answer as one line of text: your own text, or the labels.
func (a QuestionAnswer) Words() string {
	if a.Text != "" {
		return a.Text
	}
	return strings.Join(a.Options, ", ")
}

// Inquiry is one question an agent puts to the user, read out of its own
// form.
type Inquiry struct {
	ID      string   `json:"id,omitempty"`
	Header  string   `json:"header,omitempty"`
	Text    string   `json:"question"`
	Multi   bool     `json:"multiSelect,omitempty"`
	Free    bool     `json:"freeText,omitempty"` // own words are taken
	Options []Option `json:"options,omitempty"`
	// Optional says that it may be left without an answer.
	Optional bool `json:"optional,omitempty"`
}

// Answerable is false when nothing can be said to it: an address that the
// person is asked to open, for instance.
func (q *Inquiry) Answerable() bool { return q.Free || len(q.Options) > 0 }

// Option is one answer an agent offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Value       string `json:"value,omitempty"` // what the agent wants to hear, where it is not the label
}

// clone shares nothing with a: decisions are copied freely.
func (a *Answer) clone() *Answer {
	if a == nil {
		return nil
	}
	c := *a
	c.Suggestion = slices.Clone(a.Suggestion)
	c.Answers = slices.Clone(a.Answers)
	for i := range c.Answers {
		c.Answers[i].Options = slices.Clone(c.Answers[i].Options)
	}
	return &c
}

// fits reports whether an answer may accompany a verdict.
func (a *Answer) fits(v Verdict, allowed bool) bool {
	refuses := a.Choice == ChooseDeny || a.Choice == ChoosePlan && a.Plan == PlanReject
	switch v {
	case Allow:
		return !refuses
	case Modify:
		return !refuses && allowed
	case Deny:
		return refuses
	}
	return false
}
