package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// answersOf matches answers to questions: all of them to a single question, otherwise
// each to the question it names, or one for each in order.
func answersOf(questions []event.Inquiry, words []string, free string) ([]event.QuestionAnswer, error) {
	if len(questions) <= 1 {
		words = unnumbered(questions, words)
		if err := areOptions(questions, words); err != nil {
			return nil, err
		}
		return []event.QuestionAnswer{{Options: words, Text: free}}, nil
	}
	if free != "" {
		return nil, cmdutil.UsageError("there are %d questions; write 1='your answer' 2='…'", len(questions))
	}
	answers := make([]event.QuestionAnswer, len(questions))
	for i, q := range questions {
		answers[i] = event.QuestionAnswer{ID: q.ID, Question: q.Text}
	}
	named := 0
	for _, word := range words {
		number, option, ok := strings.Cut(word, "=")
		n, err := strconv.Atoi(number)
		if ok && err == nil && n >= 1 && n <= len(questions) {
			answers[n-1].Options = append(answers[n-1].Options, option)
			named++
		}
	}
	switch {
	case named == len(words):
	case named > 0:
		return nil, cmdutil.UsageError("say for each answer which question it's for: 1=… 2=…")
	case len(words) != len(questions):
		return nil, cmdutil.UsageError("there are %d questions; say which one each answer is for: 1=… 2=…",
			len(questions))
	default:
		for i, word := range words {
			answers[i].Options = []string{word}
		}
	}
	var given []event.QuestionAnswer
	for i := range answers {
		if len(answers[i].Options) > 0 {
			given = append(given, answers[i])
		}
	}
	return given, nil
}

// unnumbered takes the number off answers to the only question, written as to one
// of several (1=SQLite), unless an option is really called that.
func unnumbered(questions []event.Inquiry, words []string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		rest, numbered := strings.CutPrefix(word, "1=")
		if !numbered || areOptions(questions, []string{word}) == nil {
			rest = word
		}
		out[i] = rest
	}
	return out
}

// areOptions rejects words that aren't among the options: that's a typo, and a free-form
// answer has a flag.
func areOptions(questions []event.Inquiry, words []string) error {
	if len(questions) == 0 || len(questions[0].Options) == 0 {
		return nil
	}
	q := questions[0]
	var labels []string
	for _, o := range q.Options {
		labels = append(labels, termsafe.Line(o.Label, 60))
	}
	for _, word := range words {
		_, number := strconv.Atoi(word)
		fits := func(o event.Option) bool {
			return strings.EqualFold(o.Label, word) ||
				o.Value != "" && o.Value == word
		}
		if number == nil || slices.ContainsFunc(q.Options, fits) {
			continue
		}
		if q.Free {
			return cmdutil.UsageError("there's no option %q; choose from %s, or use --text for your own answer", word,
				strings.Join(labels, ", "))
		}
		return cmdutil.UsageError("there's no option %q; choose from %s", word, strings.Join(labels, ", "))
	}
	return nil
}

// readOption shows a question and waits for the number of an option.
func (ch *chosen) readOption(app *cmdutil.App) ([]string, error) {
	if !app.IsTerminal() {
		return nil, cmdutil.UsageError("%s is a question; answer it with `hookmux approve %s %s`", ch.item.ID, ch.item.ID,
			text.OptionWords(&ch.item))
	}
	if len(ch.item.Questions) != 1 || len(ch.item.Questions[0].Options) == 0 || len(ch.item.Questions[0].Options) > 9 {
		ch.showCard(app)
		return nil, cmdutil.UsageError("one key can't answer this; write `hookmux approve %s %s`", ch.item.ID,
			text.OptionWords(&ch.item))
	}
	options := ch.item.Questions[0].Options
	key, err := ch.readKey(app, "approve", fmt.Sprintf("Which? [1-%d] ", len(options)))
	if err != nil {
		return nil, err
	}
	if n := int(key) - '0'; n < 1 || n > len(options) {
		return nil, errNotAnswered
	}
	return []string{string(key)}, nil
}
