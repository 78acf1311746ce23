package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// Request returns a whole request as you read it before answering, with the commands that
// answer it: nothing of it is cut.
func (s Style) Request(item *wire.InboxRequest, now time.Time) string {
	if item.Answerable() {
		return s.Card(item, now) + s.dim("→ "+s.wrapWays(Ways(item))) + "\n"
	}
	return s.Card(item, now)
}

// wrapWays breaks the line of commands between them, so that each can be copied.
func (s Style) wrapWays(ways string) string {
	if s.Width <= 0 || termsafe.Width(ways)+2 <= s.Width {
		return ways
	}
	var b strings.Builder
	used := 2
	for i, way := range strings.Split(ways, " · ") {
		switch {
		case i > 0 && used+3+termsafe.Width(way) > s.Width:
			b.WriteString("\n  ")
			used = 2
		case i > 0:
			b.WriteString(" · ")
			used += 3
		}
		b.WriteString(way)
		used += termsafe.Width(way)
	}
	return b.String()
}

// Card returns a whole request without the commands that answer it.
func (s Style) Card(item *wire.InboxRequest, now time.Time) string {
	if item.Status == wire.InboxPrompt && !item.Answerable() {
		return s.promptItem(item, now)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", s.bold(item.ID), s.paint(agentColour(item.Agent), termsafe.Line(item.Agent, 0)))
	if item.Session != "" {
		b.WriteString(" " + s.dim("["+termsafe.Line(wire.ShortID(item.Session), 24)+"]"))
	}
	if item.Status == wire.InboxPending {
		b.WriteString(s.dim(fmt.Sprintf("  waiting %s, %s left", ago(now.Sub(item.CreatedAt)),
			ago(item.Deadline.Sub(now)))))
	} else if item.Status == wire.InboxPrompt {
		b.WriteString(s.dim("  waiting " + ago(now.Sub(item.CreatedAt)) + " at its own prompt"))
	} else {
		b.WriteString("  " + s.Ended(item))
	}
	b.WriteByte('\n')
	if item.Effect != "" {
		b.WriteString(s.effect(item) + "\n")
	}
	b.WriteString(s.wrapText(termsafe.Text(item.Shown)))
	return b.String()
}

// effect returns what a call would do, coloured by its risk.
func (s Style) effect(item *wire.InboxRequest) string {
	line := s.wrapText("▸ " + termsafe.Line(item.Effect, 0))
	switch item.Risk {
	case "high":
		return s.red(line)
	case "low":
		return s.green(line)
	}
	return s.yellow(line)
}

// wrapText breaks lines between words where the terminal would break them anywhere.
func (s Style) wrapText(text string) string {
	if s.Width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		end := line[len(strings.TrimSuffix(line, "\n")):]
		b.WriteString(strings.Join(WrapMarked(strings.TrimSuffix(line, "\n"), s.Width), "\n") + end)
	}
	return b.String()
}

// promptItem returns a prompt in an agent's own terminal, with the way there.
func (s Style) promptItem(item *wire.InboxRequest, now time.Time) string {
	short := termsafe.Line(wire.ShortID(item.Session), 24)
	return fmt.Sprintf("%s %s %s%s\n%s\n%s\n", s.bold("▲"),
		s.paint(agentColour(item.Agent), termsafe.Line(item.Agent, 0)), s.dim("["+short+"]"),
		s.dim("  waiting "+ago(now.Sub(item.CreatedAt))), s.wrapText(termsafe.Line(item.Shown, 0)),
		s.dim("→ answer there: hookmux jump "+shellquote.Argument(short)))
}

// PromptOver says on one line that an agent no longer asks in its own terminal.
func (s Style) PromptOver(item *wire.InboxRequest) string {
	return fmt.Sprintf("%s %s  %s", s.paint(agentColour(item.Agent), termsafe.Line(item.Agent, 0)),
		s.dim("["+termsafe.Line(wire.ShortID(item.Session), 24)+"]"),
		s.yellow("no longer asks: "+termsafe.Line(strings.TrimSuffix(item.Shown, "\n"), 120)))
}

// Ended says on one line how a request ended.
func (s Style) Ended(item *wire.InboxRequest) string {
	if d := item.Decision; d != nil {
		line := DecidedWord(d) + " by " + whoDecided(d.By)
		if d.Outcome != wire.ReplyDelivered && d.Outcome != "confirmed" {
			line += ", " + d.Outcome
		}
		if said := DecidedWords(d); said != "" {
			line += ": " + said
		}
		if d.Choice == "deny" || d.Plan == "reject" {
			return s.red(termsafe.Line(line, 0))
		}
		return s.green(termsafe.Line(line, 0))
	}
	return s.yellow(termsafe.Line(item.Status+": "+CodeText(item.End), 0))
}

// whoDecided is you for an answer given at a terminal, with which one.
func whoDecided(by string) string {
	if at, ok := strings.CutPrefix(by, "hookmux, pid "); ok {
		if _, tty, ok := strings.Cut(at, ", /dev/"); ok {
			return "you (" + tty + ")"
		}
		return "you"
	}
	return by
}

// DecidedWord says what was decided.
func DecidedWord(d *wire.InboxDecision) string {
	if d.Plan != "" {
		return planWord(d.Plan)
	}
	switch d.Choice {
	case "once":
		return "approved"
	case "always":
		return "approved and saved"
	case "all":
		return "approved for the session"
	case "deny":
		return "denied"
	case "answer":
		return "answered"
	}
	return d.Choice
}

// planWord says what was decided about a plan.
func planWord(mode string) string {
	switch mode {
	case "accept":
		return "plan accepted"
	case "auto":
		return "plan accepted, all edits allowed"
	case "manual":
		return "plan accepted, edits reviewed"
	case "reject":
		return "plan sent back"
	}
	return "plan: " + mode
}

// DecidedWords returns what you said in addition to yes or no.
func DecidedWords(d *wire.InboxDecision) string {
	var words []string
	for _, a := range d.Answers {
		words = append(words, a.Words())
	}
	for _, s := range []string{d.Reason, d.Feedback, d.Note} {
		if s != "" && !slices.Contains(words, s) {
			words = append(words, s)
		}
	}
	return termsafe.Line(strings.Join(words, "; "), 200)
}

// Ways returns the commands that answer a request.
func Ways(item *wire.InboxRequest) string {
	var ways []string
	for _, choice := range item.Choices {
		switch choice {
		case "once":
			ways = append(ways, "hookmux approve "+item.ID)
		case "always":
			if item.Rule != "" {
				ways = append(ways, "approve "+item.ID+" --always")
			}
			if len(item.Suggestions) > 0 {
				ways = append(ways, "approve "+item.ID+" --suggestion N")
			}
		case "all":
			ways = append(ways, "approve "+item.ID+" --session")
		case "deny":
			ways = append(ways, "hookmux deny "+item.ID)
		case "answer":
			ways = append(ways, "hookmux approve "+item.ID+" "+OptionWords(item))
		case "accept":
			ways = append(ways, "hookmux approve "+item.ID)
		case "auto":
			ways = append(ways, "approve "+item.ID+" --auto-edit")
		case "manual":
			ways = append(ways, "approve "+item.ID+" --review-edits")
		case "reject":
			ways = append(ways, "hookmux deny "+item.ID+" FEEDBACK")
		}
	}
	last := "hookmux skip " + item.ID
	if item.Status == wire.InboxPrompt {
		last = "hookmux jump " + shellquote.Argument(termsafe.Line(wire.ShortID(item.Session), 24))
	}
	return strings.Join(append(ways, last), " · ")
}

// OptionWords say how to write the answer to a question: with several questions, for
// which one.
func OptionWords(item *wire.InboxRequest) string {
	questions := len(item.Questions)
	if questions < 2 {
		return "ANSWER"
	}
	words := make([]string, questions)
	for i := range words {
		words[i] = fmt.Sprintf("%d=ANSWER", i+1)
	}
	return strings.Join(words, " ")
}

// About returns one line that says what a request is about; it may be cut, because you don't
// decide by it.
func (s Style) About(item *wire.InboxRequest) string { return termsafe.Line(item.About(), 100) }
