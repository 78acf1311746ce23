package dialect

import (
	"strings"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// exitAnswer denies, or keeps an agent going, by exit code 2 with the reason on stderr, and
// sends context to the model as plain text on stdout. It is used only where no form in JSON
// is known to work. The reason is never empty: an agent that looks at stderr alone would take
// silence for a crash.
func exitAnswer(d event.Decision) (neutral.Answer, event.Decision) {
	if reason := refusal(&d); reason != "" {
		dropContext(&d, "an exit code")
		text := strings.TrimSpace(visibleLines(reason))
		if text == "" { // blanks and control characters alone
			text = event.DefaultReason
		}
		return neutral.Answer{Stderr: text, Exit: 2}, d
	}
	words := visibleLines(d.Context)
	if strings.HasPrefix(strings.TrimSpace(words), "{") {
		words = "hookmux: " + words // an object would be read as an answer
	}
	return neutral.Answer{Stdout: words}, d
}

// visibleLines keeps lines and tabs and drops what else controls a terminal.
func visibleLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// dropContext removes context that isn't known to work together with what.
func dropContext(d *event.Decision, what string) {
	if d.Context != "" {
		d.NoteDegraded(event.Degradation{What: event.PartContext, Why: event.NotTriedBeside, Detail: what})
		d.Context = ""
	}
}

// generic answers unknown agents: with a deny, or not at all.
var generic = Dialect{
	Encode: func(c Call) (neutral.Answer, event.Decision) { return exitAnswer(c.Decision) },
	Shapes: []string{ShapeExit},
}
