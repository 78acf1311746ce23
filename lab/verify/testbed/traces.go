package testbed

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

func ClipText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 160 {
		return strings.ToValidUTF8(s[:160], "") + "…"
	}
	return s
}

// printed is how many of an agent's last lines are shown.
const printed = 3

// Summary sums up how a run ended.
func (e *Evidence) Summary() string {
	switch {
	case e.Signal != "":
		return "the agent was ended by " + e.Signal
	case e.Exit < 0:
		return "the agent ran at a terminal or did not come to an end by itself"
	}
	return fmt.Sprintf("the agent ended with code %d", e.Exit)
}

// DescribeTraces returns a readable description of what a run left to look at.
func (e *Evidence) DescribeTraces(spec *agent.EventSpec) []string {
	out := []string{e.Summary()}
	if e.Err != nil {
		out = append(out, ClipText(e.Err.Error()))
	}
	if lines := lastLines(e.Stderr, printed); len(lines) > 0 {
		out = append(out, "its last words on standard error: "+strings.Join(lines, " ⏎ "))
	} else if lines := lastLines(e.Stdout, printed); len(lines) > 0 {
		out = append(out, "its last words: "+strings.Join(lines, " ⏎ "))
	}
	if len(e.Screens) > 0 {
		if lines := lastLines(e.Screens[len(e.Screens)-1], printed); len(lines) > 0 {
			out = append(out, "the last lines of its screen: "+strings.Join(lines, " ⏎ "))
		}
	}
	if told := e.lastTold(); told != "" {
		out = append(out, "the last result the model was told: "+told)
	}
	out = append(out, e.describeArrivals(spec))
	return out
}

// describeArrivals describes which events came, and what was answered at the one in question.
func (e *Evidence) describeArrivals(spec *agent.EventSpec) string {
	if len(e.Seen) == 0 {
		return fmt.Sprintf("no event arrived in the act %s", e.Run)
	}
	counts := map[string]int{}
	var names []string
	for _, x := range e.Seen {
		if counts[x.Event.Native]++; counts[x.Event.Native] == 1 {
			names = append(names, x.Event.Native)
		}
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%s×%d", n, counts[n])
	}
	text := fmt.Sprintf("events of the act %s: %s", e.Run, strings.Join(names, " "))
	if spec == nil {
		return text
	}
	for _, x := range e.Events(spec.Name) {
		if x.Answer.Stdout != "" || x.Answer.Stderr != "" {
			return text + fmt.Sprintf("; %s was answered with %s", spec.Name, ClipText(x.Answer.Stdout+x.Answer.Stderr))
		}
	}
	return text
}

func (e *Evidence) lastTold() string {
	for i := len(e.Told) - 1; i >= 0; i-- {
		if m := e.Told[i]; m.Role != model.RoleAssistant && m.Kind == "tool_result" {
			return ClipText(m.Text)
		}
	}
	return ""
}

func lastLines(text string, n int) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if l = ClipText(l); l != "" {
			out = append(out, l)
		}
	}
	return out[max(0, len(out)-n):]
}
