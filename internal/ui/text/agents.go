package text

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// AgentRow is an agent in the list of all that hookmux knows.
type AgentRow struct {
	Name     string
	Here     bool   // it was found on this machine
	Version  string // of the one that was found, "" if it doesn't say
	Hooked   string // yes, no, or what is wrong in a word
	Wrong    bool   // not all of its hooks run
	Can      string // what hooks can do there
	Last     *time.Time
	Verified string // the version of the last recorded verification
	Day      string // its day
	Newer    bool   // the version here is newer than the verified one
}

// Agents writes a line for each agent, those of this machine first. Less important columns
// are dropped first on a narrow terminal.
func (s Style) Agents(w io.Writer, list []AgentRow, now time.Time) {
	var rows [][]string
	for most := allOfAgents; most >= 0; most-- {
		rows = agentRows(list, now, most)
		if s.Width <= 0 || tableWidth(rows) <= s.Width {
			break
		}
	}
	var b strings.Builder
	Table(&b, rows, s.Width)
	row := -2 // of list; the head is before it
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, " ") { // else it belongs to the one before
			row++
		}
		if row < 0 {
			fmt.Fprintln(w, s.dim(line))
		} else {
			fmt.Fprintln(w, s.paintAgent(&list[row], line))
		}
	}
}

// allOfAgents is the level of detail of [agentRows] that has everything: 2 shortens what was
// verified, 1 leaves out its day, 0 the last event.
const allOfAgents = 3

// agentRows returns the table's rows, with as much as a level of detail has.
func agentRows(list []AgentRow, now time.Time, detail int) [][]string {
	head := []string{"AGENT", "HERE", "HOOKED", "CAN"}
	if detail > 0 {
		head = append(head, "LAST EVENT")
	}
	rows := [][]string{append(head, "VERIFIED")}
	for i := range list {
		a := &list[i]
		row := []string{termsafe.Line(a.Name, 20), hereWord(a), hookedWord(a), a.Can}
		if detail > 0 {
			last := "–"
			if a.Last != nil {
				last = ago(now.Sub(*a.Last)) + " ago"
			}
			row = append(row, last)
		}
		rows = append(rows, append(row, verifiedWord(a, detail)))
	}
	return rows
}

// paintAgent colours a line by what is the matter with the agent.
func (s Style) paintAgent(a *AgentRow, line string) string {
	switch {
	case a.Wrong:
		return s.red(line)
	case !a.Here:
		return s.dim(line)
	case a.Newer:
		return s.yellow(line)
	}
	return line
}

func hereWord(a *AgentRow) string {
	switch {
	case !a.Here:
		return "–"
	case a.Version == "":
		return "yes"
	}
	return termsafe.Line(a.Version, 20)
}

func hookedWord(a *AgentRow) string {
	if !a.Here && a.Hooked == "no" {
		return "–"
	}
	return a.Hooked
}

func verifiedWord(a *AgentRow, detail int) string {
	if a.Verified == "" {
		return "–"
	}
	word := a.Verified
	if detail < allOfAgents {
		word = termsafe.Line(word, 15)
	}
	if detail > 1 {
		word += " on " + a.Day
	}
	if a.Newer && detail == allOfAgents {
		word += ", older than here"
	}
	return word
}

// Section is a heading with a table below it.
type Section struct {
	Title string
	Rows  [][]string
}

// Sections shows one thing in detail.
func (s Style) Sections(w io.Writer, list []Section) {
	for _, section := range list {
		if len(section.Rows) == 0 {
			continue
		}
		fmt.Fprintln(w, s.bold(section.Title))
		var b strings.Builder
		width := s.Width
		if width > 0 {
			width -= sectionIndent
		}
		Table(&b, section.Rows, width)
		for _, line := range strings.SplitAfter(b.String(), "\n") {
			if line != "" {
				fmt.Fprint(w, strings.Repeat(" ", sectionIndent)+line)
			}
		}
	}
}

const sectionIndent = 2

// Warning returns a line about something that is likely not meant.
func (s Style) Warning(line string) string { return s.yellow("warning") + " " + line }

// Fault returns a line about something that is wrong.
func (s Style) Fault(line string) string { return s.red("error") + " " + line }
