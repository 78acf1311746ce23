package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// AnswerCommand is `hookmux approve`.
func AnswerCommand(app *cmdutil.App) *cobra.Command {
	var text string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "answer [ID] [OPTION…]|--text TEXT",
		Short: "Answer a question of an agent",
		Long: `Answers with options, by label or by number, or in your own words. Where the
agent asks several questions, say which one an option answers: 1=Postgres 2=a 2=b.
Without an option the question is shown in full and a key is waited for: the number
of an option. Without an id it is the question that has waited longest.`,
		Example: "  hookmux approve kw4m Postgres\n  hookmux approve kw4m 1=2 2='own words'\n  hookmux approve kw4m " +
			"--text 'neither, use files'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 && text == "" && !app.IsTerminal() {
				return cmdutil.UsageError("an id and an answer are missing; see `%s --help`", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name, args = args[0], args[1:]
			}
			ch, err := chooseRequest(cmd.Context(), app, name,
				func(r *client.Request) bool { return r.Kind == "question" })
			if err != nil {
				return err
			}
			c, item := ch.client, ch.item
			if item.Status == wire.InboxPending && item.Kind != "question" {
				return cmdutil.UsageError("%s is not a question; `hookmux inbox` shows how to answer it", item.ID)
			}
			if len(args) == 0 && text == "" {
				if args, err = ch.readOption(app); err != nil {
					return err
				}
			} else if err := ch.confirmByKey(app, "answer", "Answer this?", false); err != nil {
				return err
			}
			answers, err := answersOf(item.Questions, args, text)
			if err != nil {
				return err
			}
			return sendReply(cmd.Context(), app, c,
				client.InboxReply{ID: item.ID, Choice: "answer", Answers: answers, SHA256: item.SHA256}, asJSON)
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "your own words, for a single question")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown, by}")
	return cmd
}

// answersOf puts words beside questions: all of them beside a single one, else
// each beside the question it names, or one for each in their order.
func answersOf(questions []event.Inquiry, words []string, text string) ([]event.QuestionAnswer, error) {
	if len(questions) <= 1 {
		words = unnumbered(questions, words)
		if err := areOptions(questions, words); err != nil {
			return nil, err
		}
		return []event.QuestionAnswer{{Options: words, Text: text}}, nil
	}
	if text != "" {
		return nil, cmdutil.UsageError("there are %d questions; say 1='own words' and so on", len(questions))
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
		return nil, cmdutil.UsageError("say for each answer which question it is for: 1=… 2=…")
	case len(words) != len(questions):
		return nil, cmdutil.UsageError("there are %d questions; say which one an answer is for: 1=… 2=…",
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

// areOptions refuses words that are not among the options: that is a slip, and own
// words have a flag.
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
			return cmdutil.UsageError("%q is none of %s; own words go with --text", word, strings.Join(labels, ", "))
		}
		return cmdutil.UsageError("%q is none of %s", word, strings.Join(labels, ", "))
	}
	return nil
}

// readOption waits for the number of an option.
func (ch *chosen) readOption(app *cmdutil.App) ([]string, error) {
	if len(ch.item.Questions) != 1 || len(ch.item.Questions[0].Options) == 0 || len(ch.item.Questions[0].Options) > 9 {
		ch.showCard(app)
		return nil, cmdutil.UsageError("one key cannot answer this; write `hookmux approve %s …`", ch.item.ID)
	}
	options := ch.item.Questions[0].Options
	key, err := ch.readKey(app, "answer", fmt.Sprintf("Which? [1-%d] ", len(options)))
	if err != nil {
		return nil, err
	}
	if n := int(key) - '0'; n < 1 || n > len(options) {
		return nil, cmdutil.FailWith(cmdutil.ExitFailed, "nothing was answered")
	}
	return []string{string(key)}, nil
}
