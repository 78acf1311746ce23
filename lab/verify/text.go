package verify

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/lab/verify/checks"
)

// Text writes a report for reading: per agent one line per event with its marks, then what doesn't
// hold and what to do, then what remained open.
func (r *Report) Text(w io.Writer, color bool) {
	paint := func(m checks.Mark) string {
		if !color {
			return string(m)
		}
		code := map[checks.Mark]string{checks.Holds: "32", checks.Fails: "31;1", checks.Unsure: "33"}[m]
		return "\x1b[" + code + "m" + string(m) + "\x1b[0m"
	}
	for i, a := range r.Agents {
		if i > 0 {
			fmt.Fprintln(w)
		}
		a.writeText(w, paint)
	}
	fmt.Fprintf(w, "\nAgents ran without network access (%s).\n", r.Isolation)
	if r.Kept != "" {
		fmt.Fprintf(w, "Payloads, answers, screens and the agents' own records are in %s\n", r.Kept)
	}
	fmt.Fprintln(w, r.verdict())
}

// verdict returns the last line: what all rows come to.
func (r *Report) verdict() string {
	var stopped, wrong []string
	for _, a := range r.Agents {
		name := strings.TrimSpace(a.Title + " " + a.Version)
		switch failed := a.Count(checks.Fails); {
		case a.Problem != "":
			wrong = append(wrong, name+" could not be tested")
		case failed == 1:
			wrong = append(wrong, name+": 1 check failed")
		case failed > 1:
			wrong = append(wrong, fmt.Sprintf("%s: %d checks failed", name, failed))
		case a.refusalHolds():
			stopped = append(stopped, name)
		}
	}
	switch {
	case len(wrong) > 0:
		return strings.Join(wrong, "; ") + " (see ✗)"
	case len(stopped) == len(r.Agents) && len(stopped) > 0:
		return "blocking works in " + strings.Join(stopped, ", ")
	}
	return "everything that was tested works"
}

// refusalHolds reports whether it was proven that a denied call doesn't run.
func (r *AgentReport) refusalHolds() bool {
	a, ok := agent.Builtin().Agent(r.Agent)
	return ok && slices.ContainsFunc(r.Rows, func(row Row) bool {
		spec, ok := a.Event(row.Event)
		return ok && spec.Kind == event.ToolBefore && row.Claim == "deny" && row.Mark == checks.Holds
	})
}

func (r *AgentReport) writeText(w io.Writer, paint func(checks.Mark) string) {
	fmt.Fprintf(w, "%s %s", r.Title, r.Version)
	if r.Problem != "" {
		fmt.Fprintf(w, "\n  %s %s\n", paint(checks.Fails), r.Problem)
		return
	}
	if r.Tried != "" && r.Tried != r.Version {
		fmt.Fprintf(w, " (last tested with %s)", r.Tried)
	}
	fmt.Fprintf(w, ": %d passed %s, %d failed %s, %d not tried %s (started %s, %.0f s)\n",
		r.Count(checks.Holds), paint(checks.Holds), r.Count(checks.Fails), paint(checks.Fails), r.Count(checks.Unsure),
		paint(checks.Unsure), times(r.Launches), time.Duration(r.Took).Seconds())
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	r.writeLines(w, paint)
	for _, row := range r.Rows {
		if row.Mark == checks.Fails {
			fmt.Fprintf(w, "  %s %s: %s\n", paint(checks.Fails), row.rowLabel(), row.Why)
			for _, seen := range row.Seen {
				fmt.Fprintf(w, "      seen: %s\n", termsafe.Text(seen))
			}
			if row.Hint != "" {
				fmt.Fprintf(w, "      %s\n", row.Hint)
			}
		}
	}
	optional := 0
	for _, row := range r.Rows {
		switch {
		case row.Mark != checks.Unsure || row.Cause == checks.NeverCame:
		case row.Cause == checks.NotInstalled:
			optional++
		default:
			fmt.Fprintf(w, "  %s %s: %s\n", paint(checks.Unsure), row.rowLabel(), row.Why)
		}
	}
	if optional > 0 {
		fmt.Fprintf(w, "  %s %d rows about events that hookmux does not install by default\n", paint(checks.Unsure),
			optional)
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// rowLabel distinguishes checks of the same claim.
func (r Row) rowLabel() string {
	if r.Claim != "" && r.Check != r.Claim && r.Check != "claim" {
		return r.ID() + " (" + r.Check + ")"
	}
	return r.ID()
}

// writeLines puts the marks of one event on one line. Events of which nothing is
// known that was asked for are left to the summary below.
func (r *AgentReport) writeLines(w io.Writer, paint func(checks.Mark) string) {
	var order []string
	marks := map[string][]string{}
	told := map[string]bool{}
	for _, row := range r.Rows {
		name := row.Event
		if name == "" {
			name = "the agent"
		}
		if marks[name] == nil {
			order = append(order, name)
		}
		what := row.Claim
		if what == "" || row.Check != what && !strings.HasPrefix(row.Check, what+"-") && row.Check != "claim" {
			what = row.Check
		}
		if row.Check == "ask-dialog" {
			what = row.Check
		}
		marks[name] = append(marks[name], what+" "+paint(row.Mark))
		told[name] = told[name] || row.Mark != checks.Unsure
	}
	for _, name := range order {
		if told[name] {
			fmt.Fprintf(w, "  %-20s %s\n", name, strings.Join(marks[name], "  "))
		}
	}
}
