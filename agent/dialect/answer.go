package dialect

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Takes says which parts of your answer, besides yes and no, a dialect can write in a shape.
type Takes uint8

// The parts of an answer.
const (
	TakesAnswers    Takes = 1 << iota // the answers to questions
	TakesSuggestion                   // a standing approval that the agent offered
	TakesPlanMode                     // how an accepted plan is carried out
	TakesFeedback                     // words beside an accepted plan
)

// answers returns your answers to the questions of an event, one element for each question;
// nil where there is none.
func answers(ev *event.Event, d *event.Decision) []*event.QuestionAnswer {
	if d.Answer == nil || d.Answer.Choice != event.ChooseAnswer {
		return nil
	}
	out := make([]*event.QuestionAnswer, len(ev.Questions))
	found := false
	for i := range ev.Questions {
		if a, ok := d.Answer.AnswerTo(&ev.Questions[i], i); ok && (a.Text != "" || len(a.Options) > 0) {
			out[i], found = &a, true
		}
	}
	if !found {
		return nil
	}
	return out
}

// words returns an answer as text: labels, and what you wrote beside them.
func words(a *event.QuestionAnswer) string {
	if a.Text == "" {
		return strings.Join(a.Options, ", ")
	}
	return strings.Join(append(slices.Clone(a.Options), a.Text), ", ")
}

// InWords returns your answers as one line that a model understands, for agents that have no
// form for them; empty if nothing was answered.
func InWords(ev *event.Event, d *event.Decision) string {
	var parts []string
	for i, a := range answers(ev, d) {
		if a != nil {
			parts = append(parts, strconv.Quote(ev.Questions[i].Text)+" = "+strconv.Quote(words(a)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "The user has answered, do not ask again: " + strings.Join(parts, "; ")
}

// formContent are answers in the types of the form's fields; nil when a field
// that must be filled has no answer, or one its type does not take.
func formContent(ev *event.Event, d *event.Decision, schema []byte) []byte {
	given := answers(ev, d)
	if given == nil {
		return nil
	}
	var o object
	for i, q := range ev.Questions {
		if q.ID == "" {
			continue // a form without fields
		}
		var value []byte
		if given[i] != nil {
			value = formValue(&q, given[i], jsontext.Get(schema, "properties", q.ID))
		}
		if value == nil && (given[i] != nil || !q.Optional) {
			return nil
		}
		if value != nil {
			o.member(q.ID, value)
		}
	}
	if len(o.b) == 0 {
		return []byte("{}")
	}
	return o.bytes()
}

// formValue returns one answer in the type of its field; nil when it does not fit.
func formValue(q *event.Inquiry, a *event.QuestionAnswer, field []byte) []byte {
	values := make([]string, 0, len(a.Options)+1)
	for _, label := range a.Options {
		value := label
		for _, option := range q.Options {
			if option.Label == label && option.Value != "" {
				value = option.Value
			}
		}
		values = append(values, value)
	}
	if a.Text != "" {
		values = append(values, a.Text)
	}
	kind, _ := jsontext.String(jsontext.Get(field, "type"))
	if kind == "array" {
		b, err := json.Marshal(values)
		if err != nil {
			return nil
		}
		return b
	}
	if len(values) != 1 {
		return nil
	}
	switch kind {
	case "boolean":
		if values[0] != "true" && values[0] != "false" {
			return nil
		}
		return []byte(values[0])
	case "integer":
		if _, err := strconv.ParseInt(values[0], 10, 64); err != nil {
			return nil
		}
		return []byte(strings.TrimPrefix(values[0], "+"))
	case "number":
		n, err := strconv.ParseFloat(values[0], 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return nil
		}
		b, err := json.Marshal(n)
		if err != nil {
			return nil
		}
		return b
	}
	return event.AppendString(nil, values[0])
}
