package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// form is a request's questions while they are answered.
type form struct {
	item      *wire.InboxRequest
	title     string // of the session
	questions []event.Inquiry
	at        int      // the question that is asked now
	option    int      // where the cursor is in it: an option, or after them your own answer
	chosen    [][]bool // options, by question
	words     []string // your own answer, by question
	since     time.Time
}

func newForm(item *wire.InboxRequest, title string, questions []event.Inquiry, now time.Time) *form {
	f := &form{item: item, title: title, questions: questions, words: make([]string, len(questions)), since: now}
	for _, q := range questions {
		f.chosen = append(f.chosen, make([]bool, len(q.Options)))
	}
	return f
}

// answered reports whether a question has an answer.
func (f *form) answered(i int) bool { return slices.Contains(f.chosen[i], true) || f.words[i] != "" }

// missing returns the first question that needs an answer and has none; -1: none.
func (f *form) missing() int {
	for i, q := range f.questions {
		if !f.answered(i) && !q.Optional {
			return i
		}
	}
	return -1
}

// rows returns how many places the cursor has in a question.
func (f *form) rows(question int) int {
	q := f.questions[question]
	if takesWords(q) {
		return len(q.Options) + 1
	}
	return len(q.Options)
}

// move moves the cursor, on into the next question or back into the one before.
func (f *form) move(n int) {
	switch to := f.option + n; {
	case to >= f.rows(f.at) && f.at+1 < len(f.questions):
		f.at, f.option = f.at+1, 0
	case to < 0 && f.at > 0:
		f.at--
		f.option = max(f.rows(f.at)-1, 0)
	default:
		f.option = min(max(to, 0), max(f.rows(f.at)-1, 0))
	}
}

// goTo puts the cursor on a question.
func (f *form) goTo(question int) {
	f.at, f.option = min(max(question, 0), len(f.questions)-1), 0
}

// choose takes an option of the question that is asked now.
func (f *form) choose(option int) {
	q := f.questions[f.at]
	if option < 0 || option >= len(q.Options) {
		return
	}
	f.option = option
	if q.Multi {
		f.chosen[f.at][option] = !f.chosen[f.at][option]
		return
	}
	clear(f.chosen[f.at])
	f.chosen[f.at][option] = true
	f.words[f.at] = ""
	if f.at+1 < len(f.questions) {
		f.goTo(f.at + 1)
	}
}

// isQuick reports whether one choice is the whole answer.
func isQuick(questions []event.Inquiry) bool {
	return len(questions) == 1 && !questions[0].Multi && len(questions[0].Options) > 0
}

// reply returns what the form says.
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

// handleFormKey returns a key while questions are answered.
func handleFormKey(m *Model, key string) tea.Cmd {
	f := m.form
	m.status = ""
	q := f.questions[f.at]
	onWords := f.option >= len(q.Options)
	switch {
	case key == "esc":
		m.closeForm("Nothing was answered.")
	case key == "tab":
		f.goTo(f.at + 1)
	case key == "shift+tab":
		f.goTo(f.at - 1)
	case key == "down":
		f.move(1)
	case key == "up":
		f.move(-1)
	case len(key) == 1 && strings.Contains(optionKeys, key):
		n := strings.Index(optionKeys, key)
		if n >= len(q.Options) {
			return nil
		}
		f.choose(n)
		if isQuick(f.questions) {
			return sendForm(m)
		}
	case (key == "o" || key == "enter" && onWords && f.words[f.at] == "") && takesWords(q):
		typeAnswer(m)
	case key == "space" && !onWords:
		f.choose(f.option)
	case key == "enter":
		return enterForm(m)
	}
	return nil
}

// enterForm takes the option under the cursor if nothing was chosen yet, and sends the answers
// once there are all.
func enterForm(m *Model) tea.Cmd {
	f := m.form
	if why := m.formTooNew(); why != "" {
		m.status = why
		return nil
	}
	if q := f.questions[f.at]; f.option < len(q.Options) && (!q.Multi || !f.answered(f.at)) {
		f.choose(f.option)
	}
	if at := f.missing(); at >= 0 {
		if f.at != at {
			f.goTo(at)
		}
		return nil
	}
	return sendForm(m)
}

// formTooNew says why a key doesn't send the form yet: it may have been meant for what was
// there before.
func (m *Model) formTooNew() string {
	switch {
	case m.keyAt.Sub(m.form.since) < settleTime:
		return "Too soon after the question came on the screen, so nothing was answered. Press the key again."
	case m.pressed.held:
		return heldText
	}
	return ""
}

// sendForm sends the answers.
func sendForm(m *Model) tea.Cmd {
	f := m.form
	if why := m.formTooNew(); why != "" {
		m.status = why
		return nil
	}
	if m.board.findRequest(f.item.ID) == nil {
		m.closeForm(tooLateText)
		return nil
	}
	if m.problem != "" || m.busy {
		m.status = "An answer is on its way."
		return nil // the line at the bottom says what is wrong
	}
	reply := f.reply()
	m.closeForm("")
	return m.reply(reply)
}

func (m *Model) closeForm(status string) { m.mode, m.form, m.status = modeList, nil, status }

// typeAnswer has your own answer typed.
func typeAnswer(m *Model) {
	f := m.form
	f.option = len(f.questions[f.at].Options)
	m.startTyping("Your answer", "", f.words[f.at], "keep", func(m *Model, words string) tea.Cmd {
		f.words[f.at] = words
		if !f.questions[f.at].Multi && words != "" {
			clear(f.chosen[f.at])
		}
		m.mode = modeForm
		if words != "" && f.at+1 < len(f.questions) {
			f.goTo(f.at + 1)
		}
		return nil
	})
}

// optionKeys choose an option; o is for your own answer.
const optionKeys = "123456789abcdefghijklmnpqrstuvwxyz"

// optionKey returns the key of an option; "-" if none is left.
func optionKey(n int) string {
	if n < len(optionKeys) {
		return optionKeys[n : n+1]
	}
	return "-"
}

// keys returns those that do something in the form.
func (f *form) keys() []binding {
	q := f.questions[f.at]
	var keys []binding
	add := func(name, does string) { keys = append(keys, binding{name: name, does: does}) }
	if f.missing() >= 0 && f.missing() != f.at {
		add("Enter", "next question")
	} else {
		add("Enter", "send")
	}
	add("↑↓", "move")
	switch {
	case q.Multi:
		add("Space", "mark")
	case isQuick(f.questions):
		add(digitNames(len(q.Options)), "answer")
	case len(q.Options) > 0:
		add(digitNames(len(q.Options)), "choose")
	}
	if takesWords(q) {
		add("o", "type an answer")
	}
	if len(f.questions) > 1 {
		add("Tab", "next")
	}
	add("Esc", "cancel")
	return keys
}

// visibleLines returns the lines of the form that fit, with the cursor among them, and the
// current question at the top if not all of them fit.
func (f *form) visibleLines(width, height int, typed *lineInput) []string {
	lines, at, cursor := f.lines(width, typed)
	top := min(at, max(0, len(lines)-height))
	top = max(top, cursor-height+1)
	return lines[top:min(len(lines), top+max(height, 0))]
}

// formInPlace reports whether the questions are answered where the request is shown: they fit
// there.
func (f frame) formInPlace(place area) bool {
	if f.form == nil || f.mode != modeForm && f.mode != modeTyping || place.height < 5 {
		return false
	}
	lines, _, _ := f.form.lines(place.width, nil)
	return len(lines)+2 <= place.height
}

// formPage returns the questions below what asks them, as the request itself shows them.
func (f frame) formPage(place area) []string {
	head, _, _ := strings.Cut(f.readable(f.form.item.Shown, f.form.item.Agent), "\n")
	out := append(indentWrapped("", termsafe.Line(head, 0), place.width), "")
	out = append(out, f.form.visibleLines(place.width, place.height-len(out), f.typed())...)
	if r := f.selectedRow(); r != nil && r.request == f.form.item {
		out = append(out, f.tailOf(r, place.width, place.height-len(out))...)
	}
	return out
}

// typed holds the text being typed; nil if there is none.
func (f frame) typed() *lineInput {
	if f.mode != modeTyping {
		return nil
	}
	return &f.typing.input
}

// lines returns the form; at is the line of the current question, cursor that of the option.
// What is typed is drawn where the answer will be.
func (f *form) lines(width int, typed *lineInput) (out []string, at, cursor int) {
	for i, q := range f.questions {
		if i == f.at {
			at, cursor = len(out), len(out)
		}
		head := q.Text
		if q.Header != "" && q.Header != q.Text {
			head = q.Header + ": " + q.Text
		}
		if q.Multi {
			head += " (choose one or more)"
		}
		if q.Optional {
			head += " (optional)"
		}
		for _, line := range indentWrapped("", termsafe.Line(head, 0), width) {
			if i == f.at {
				line = styleBold.Render(line)
			}
			out = append(out, line)
		}
		row := func(n int, mark, label string) {
			lead := "  "
			here := i == f.at && n == f.option
			if here {
				lead, cursor = "▌ ", len(out)
			}
			for _, line := range indentWrapped(lead+mark, termsafe.Line(label, 0), width) {
				if here {
					line = onChosen(styleAccent.Render(line), width)
				}
				out = append(out, line)
			}
		}
		for n, option := range q.Options {
			box := ""
			switch {
			case q.Multi && f.chosen[i][n]:
				box = "[x] "
			case q.Multi:
				box = "[ ] "
			case len(f.questions) > 1 && f.chosen[i][n]:
				box = "✓ "
			}
			label := option.Label
			if option.Description != "" {
				label += ": " + option.Description
			}
			row(n, optionKey(n)+") "+box, label)
		}
		if takesWords(q) {
			said := f.words[i]
			if said == "" {
				said = "type your own answer …"
			}
			if typed != nil && i == f.at {
				out = append(out, styleAccent.Render("▌ › ")+typed.render(width-4))
				cursor = len(out) - 1
			} else {
				row(len(q.Options), "o) ", said)
			}
		}
		if i+1 < len(f.questions) {
			out = append(out, "")
		}
	}
	return out, at, cursor
}
