package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// form is a request's questions while they are answered.
type form struct {
	item      *wire.InboxRequest
	title     string // of the session
	questions []event.Inquiry
	at        int      // the question that is asked now
	chosen    [][]bool // options, by question
	words     []string // own words, by question
}

func newForm(item *wire.InboxRequest, title string, questions []event.Inquiry) *form {
	f := &form{item: item, title: title, questions: questions, words: make([]string, len(questions))}
	for _, q := range questions {
		f.chosen = append(f.chosen, make([]bool, len(q.Options)))
	}
	return f
}

// answered reports whether a question has an answer.
func (f *form) answered(i int) bool { return slices.Contains(f.chosen[i], true) || f.words[i] != "" }

// missing is the first question that needs an answer and has none; -1: none.
func (f *form) missing() int {
	for i, q := range f.questions {
		if !f.answered(i) && !q.Optional {
			return i
		}
	}
	return -1
}

// choose takes an option of the question that is asked now.
func (f *form) choose(option int) {
	q := f.questions[f.at]
	if option < 0 || option >= len(q.Options) {
		return
	}
	if q.Multi {
		f.chosen[f.at][option] = !f.chosen[f.at][option]
		return
	}
	clear(f.chosen[f.at])
	f.chosen[f.at][option] = true
	f.words[f.at] = ""
	f.at = min(f.at+1, len(f.questions)-1)
}

// reply is what the form says.
func (f *form) reply() client.InboxReply {
	reply := client.InboxReply{ID: f.item.ID, Choice: "answer", SHA256: f.item.SHA256}
	for i, q := range f.questions {
		if !f.answered(i) {
			continue
		}
		answer := event.QuestionAnswer{ID: q.ID, Question: q.Text, Text: f.words[i]}
		for n, option := range q.Options {
			if f.chosen[i][n] {
				answer.Options = append(answer.Options, option.Label)
			}
		}
		if len(f.item.Questions) == 0 {
			answer.Question = ""
		}
		reply.Answers = append(reply.Answers, answer)
	}
	return reply
}

func takesWords(q event.Inquiry) bool { return q.Free || len(q.Options) == 0 }

// handleFormKey is a key while questions are answered.
func handleFormKey(m *Model, key string) tea.Cmd {
	f := m.form
	switch {
	case key == "esc":
		m.mode, m.form, m.status = modeList, nil, "nothing was answered"
	case key == "tab" || key == "down":
		f.at = min(f.at+1, len(f.questions)-1)
	case key == "shift+tab" || key == "up":
		f.at = max(f.at-1, 0)
	case len(key) == 1 && strings.Contains(optionKeys, key):
		f.choose(strings.Index(optionKeys, key))
	case key == "o" && takesWords(f.questions[f.at]):
		m.startTyping("Your answer", f.words[f.at], func(m *Model, words string) tea.Cmd {
			f.words[f.at] = words
			if !f.questions[f.at].Multi && words != "" {
				clear(f.chosen[f.at])
			}
			m.mode = modeForm
			return nil
		})
	case key == "enter":
		if at := f.missing(); at >= 0 {
			f.at = at
			m.status = "this question has no answer yet"
			return nil
		}
		if m.board.findRequest(f.item.ID) == nil {
			m.mode, m.form, m.status = modeList, nil, "too late: it no longer waits"
			return nil
		}
		if m.problem != "" || m.busy {
			m.status = "an answer is on its way"
			return nil // the line at the bottom says what is wrong
		}
		reply := f.reply()
		m.mode, m.form = modeList, nil
		return m.reply(reply)
	}
	return nil
}

// optionKeys choose an option; o is for own words.
const optionKeys = "123456789abcdefghijklmnpqrstuvwxyz"

// optionKey is the key of an option; "-" where none is left.
func optionKey(n int) string {
	if n < len(optionKeys) {
		return optionKeys[n : n+1]
	}
	return "-"
}

// visibleLines are those lines of the form that fit, with the question that is
// asked now at the top where not all do.
func (f *form) visibleLines(width, height int) []string {
	lines, at := f.lines(width)
	top := min(at, max(0, len(lines)-height))
	return lines[top:min(len(lines), top+max(height, 0))]
}

// lines show the form; at is the line of the question that is asked now.
func (f *form) lines(width int) (out []string, at int) {
	for i, q := range f.questions {
		mark := "  "
		if i == f.at {
			mark, at = "▸ ", len(out)
		}
		head := q.Text
		if q.Header != "" && q.Header != q.Text {
			head = q.Header + ": " + q.Text
		}
		if q.Optional {
			head += " (optional)"
		}
		out = append(out, indentWrapped(mark, termsafe.Line(head, 0), width)...)
		for n, option := range q.Options {
			box := "( )"
			if q.Multi {
				box = "[ ]"
			}
			if f.chosen[i][n] {
				box = strings.Replace(strings.Replace(box, "( )", "(•)", 1), "[ ]", "[x]", 1)
			}
			label := option.Label
			if option.Description != "" {
				label += ": " + option.Description
			}
			mark := fmt.Sprintf("  %s %s ", optionKey(n), box)
			out = append(out, indentWrapped(mark, termsafe.Line(label, 0), width)...)
		}
		if f.words[i] != "" {
			out = append(out, indentWrapped("  own words: ", termsafe.Line(f.words[i], 0), width)...)
		}
		out = append(out, "")
	}
	return out, at
}
