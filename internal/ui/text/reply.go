package text

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// endedText says why a request ended. The code may be followed by what the agent does now.
func endedText(why string) string {
	code, now, ok := strings.Cut(why, "; ")
	switch {
	case !ok:
		return CodeText(why)
	case code == wire.EndSkipped:
		return "it was skipped; " + now // CodeText says what the agent does, too
	}
	return CodeText(code) + "; " + now
}

// ReplyLines says what became of an answer; delivered is false for one that came
// too late.
func (s Style) ReplyLines(result *wire.InboxReplyResult) (lines []string, delivered bool) {
	line := func(format string, args ...any) {
		lines = append(lines, termsafe.Line(fmt.Sprintf(format, args...), 0))
	}
	switch {
	case result.Outcome == wire.ReplyDelivered:
	case result.Outcome == wire.ReplyAlready && result.By != "":
		line("%s: too late, already decided by %s", result.ID, whoDecided(result.By))
		return lines, false
	case result.Outcome == wire.ReplyAlready:
		line("%s: too late: %s", result.ID, CodeText(result.Why))
		return lines, false
	case result.Outcome == wire.ReplyExpired:
		line("%s is no longer waiting: %s", result.ID, endedText(result.Why))
		return lines, false
	default:
		line("%s", result.Why)
		return lines, false
	}
	if result.Decided != nil && result.Item != nil {
		yours, decision := *result.Item, *result.Decided
		decision.By, yours.Decision = "you", &decision
		lines = append(lines, termsafe.Line(result.ID, 0)+": "+s.Ended(&yours)) // safe, and perhaps coloured
	} else {
		line("%s: %s", result.ID, CodeText(result.Why))
	}
	for _, less := range result.Degraded {
		line("the agent doesn't get all of it: %s", less)
	}
	if g := result.Permission; g != nil {
		line("saved permission %[3]s: %[1]s (%[2]s); `hookmux permissions remove %[3]s` removes it", g.Rule, g.Reach, g.ID)
	}
	return lines, true
}
