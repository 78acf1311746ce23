package approvals

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/event"
)

// matchAnswers puts what a person chose beside the questions: labels, or their
// numbers, or own words where the agent takes them.
func matchAnswers(questions []event.Inquiry, given []event.QuestionAnswer) ([]event.QuestionAnswer, error) {
	if len(questions) == 0 {
		return nil, errors.New("the agent did not say what it asks")
	}
	out := make([]event.QuestionAnswer, 0, len(questions))
	used := 0
	for i := range questions {
		q := &questions[i]
		answer, ok := (&event.Answer{Answers: given}).AnswerTo(q, i)
		name := cmp.Or(cmp.Or(q.Header, q.Text), q.ID)
		if !ok {
			if q.Optional {
				continue
			}
			return nil, fmt.Errorf("question %d (%s) has no answer", i+1, name)
		}
		used++
		fixed := event.QuestionAnswer{ID: q.ID, Question: q.Text, Text: answer.Text}
		for _, word := range answer.Options {
			label, ok := FindOption(q, word)
			switch {
			case ok:
				fixed.Options = append(fixed.Options, label)
			case len(q.Options) > 0 && isNumber(word):
				return nil, fmt.Errorf("%s has no option %s; there is %s", name, word, optionList(q))
			case q.Free && len(answer.Options) == 1 && fixed.Text == "":
				fixed.Text = word
			default:
				return nil, fmt.Errorf("%q is not an answer to %s; there is %s", word, name, optionList(q))
			}
		}
		switch {
		case fixed.Text != "" && !q.Free:
			return nil, fmt.Errorf("%s takes no own words; there is %s", name, optionList(q))
		case len(fixed.Options) > 1 && !q.Multi:
			return nil, fmt.Errorf("%s takes one answer", name)
		case fixed.Text == "" && len(fixed.Options) == 0:
			return nil, fmt.Errorf("question %d (%s) has no answer", i+1, name)
		}
		out = append(out, fixed)
	}
	if used != len(given) {
		return nil, fmt.Errorf("there are %d questions, and not as many answers (%d)", len(questions), len(given))
	}
	return out, nil
}

// FindOption finds the label a person means.
func FindOption(q *event.Inquiry, word string) (string, bool) {
	for _, o := range q.Options {
		if o.Label == word || o.Value != "" && o.Value == word {
			return o.Label, true
		}
	}
	for _, o := range q.Options {
		if strings.EqualFold(o.Label, word) {
			return o.Label, true
		}
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].Label, true
	}
	return "", false
}

// isNumber reports whether a word is a number: whoever types a number means an option, not own words.
func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

func optionList(q *event.Inquiry) string {
	var words []string
	for _, o := range q.Options {
		words = append(words, o.Label)
	}
	return strings.Join(words, ", ")
}
