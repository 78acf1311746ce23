package drift

import (
	"fmt"
	"io"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Report holds the result for every agent that was checked.
type Report struct {
	Agents []Difference `json:"agents"`
}

// Quiet reports whether no agent differs from what was recorded.
func (r *Report) Quiet() bool {
	for i := range r.Agents {
		if !r.Agents[i].Quiet() {
			return false
		}
	}
	return true
}

// Text writes the report for reading.
func (r *Report) Text(w io.Writer) {
	differ := 0
	for i := range r.Agents {
		d := &r.Agents[i]
		fmt.Fprintln(w, termsafe.Line(d.headline(), 500))
		for _, line := range append(d.lines(), d.Notes...) {
			fmt.Fprintln(w, "  "+termsafe.Line(line, 500))
		}
		if !d.Quiet() {
			differ++
		}
	}
	switch differ {
	case 0:
		fmt.Fprintln(w, "nothing differs from what was recorded")
	case 1:
		fmt.Fprintln(w, "1 agent differs from what was recorded")
	default:
		fmt.Fprintf(w, "%d agents differ from what was recorded\n", differ)
	}
}

// headline returns the state of an agent.
func (d *Difference) headline() string {
	versions := d.Recorded
	if d.Newest != "" && d.Newest != d.Recorded {
		versions += " → " + d.Newest
	}
	line := d.Title + " " + versions + ": "
	switch d.State {
	case Recorded:
		return line + "the newest release is the recorded one"
	case Same:
		return line + "as recorded"
	case Changed:
		return line + "differs"
	case NotInstallable:
		return line + "not installable: " + d.Why
	case NotAsked:
	}
	return line + "could not be asked: " + d.Why
}

// lines returns the differences, one a line.
func (c *Changes) lines() []string {
	var out []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			out = append(out, what+": "+strings.Join(names, ", "))
		}
	}
	add("new events", c.NewEvents)
	add("events that no longer come", c.LostEvents)
	add("names in the program beside its events that the catalogue does not know", c.NamedEvents)
	add("new fields", fieldNames(c.NewFields))
	add("fields that are gone", fieldNames(c.LostFields))
	for _, a := range c.Broken {
		out = append(out, fmt.Sprintf("%s → %s %s: %s", a.Was, a.Now, a.ID(), a.Why))
	}
	add("held, and could not be proven this time", answerNames(c.Unproven))
	add("hold now", answerNames(c.Gained))
	return out
}

func fieldNames(fields []Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Event+" "+f.Field)
	}
	return out
}

func answerNames(answers []Answer) []string {
	var out []string
	for _, a := range answers {
		out = append(out, a.ID())
	}
	return out
}
