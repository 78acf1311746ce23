package queue

import (
	"slices"

	"github.com/hookmux/hookmux/event"
)

// QuestionKind is how a hook's question is answered.
type QuestionKind string

// The kinds of questions.
const (
	Select  QuestionKind = "select"
	Confirm QuestionKind = "confirm"
	Input   QuestionKind = "input"
)

// The options of a [Confirm].
const (
	YesLabel = "yes"
	noLabel  = "no"
)

// Question is a hook's question to you.
type Question struct {
	By          string // the hook's id
	Kind        QuestionKind
	Title       string
	Text        string
	Options     []string
	Placeholder string
}

// Inquiry returns the question in the form all questions have.
func (q *Question) Inquiry() event.Inquiry {
	out := event.Inquiry{ID: "1", Header: q.Title, Text: q.Text}
	if out.Text == "" {
		out.Header, out.Text = "", q.Title
	}
	switch q.Kind {
	case Confirm:
		out.Options = []event.Option{{Label: YesLabel}, {Label: noLabel}}
	case Select:
		for _, o := range q.Options {
			out.Options = append(out.Options, event.Option{Label: o})
		}
	default:
		out.Free = true
		if q.Placeholder != "" {
			out.Text += " (" + q.Placeholder + ")"
		}
	}
	return out
}

// IsYes reports whether an answer says yes to a [Confirm].
func (q *Question) IsYes(answer string) bool { return q.Kind == Confirm && answer == YesLabel }

// AsksForYes reports whether a hook asks for nothing but a yes, so that to approve the
// question is to say yes: a [Confirm], or a [Select] between the same two.
func (q *Question) AsksForYes() bool {
	return q.Kind == Confirm || q.Kind == Select && slices.Equal(q.Options, []string{YesLabel, noLabel})
}
