package attempts

import (
	"fmt"
	"slices"
	"strings"
)

// Where the documentation has what is made from the table.
const (
	DocsBegin = "<!-- attempts: made from internal/authority/attempts, HOOKMUX_UPDATE=1 writes it anew -->"
	DocsEnd   = "<!-- attempts: end -->"
)

// Markdown lists the table for the documentation: what is refused, and what is
// not and why.
func Markdown() string {
	var b strings.Builder
	b.WriteString("### What is refused\n\nEach row is run by `make test`: on recorded facts (a table of " +
		"processes and " +
		"terminals, or a call that is evaluated), by real processes with the programs as they are shipped, or by a real " +
		"agent's shell tool (`make verify`).\n")
	for _, class := range Classes() {
		fmt.Fprintf(&b, "\n**%s**\n\n| what is tried | how it ends | tried with |\n|---|---|---|\n", class.Title())
		for _, row := range mergeRows(class) {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", row.text, row.end.Words(), row.on)
		}
	}
	b.WriteString("\n### What is not refused, and why\n\n")
	for _, class := range Classes() {
		for _, a := range All() {
			if a.Class == class && a.End == Passes {
				fmt.Fprintf(&b, "- %s: %s.\n", a.Text(), a.Why)
			}
		}
	}
	return b.String()
}

// docsRow is the documentation of one or more rows with the same text.
type docsRow struct {
	text string
	end  End
	on   Place
}

func (p Place) String() string {
	var words []string
	for _, one := range []struct {
		place Place
		word  string
	}{{Facts, "facts"}, {Process, "processes"}, {Agent, "agents"}} {
		if p&one.place != 0 {
			words = append(words, one.word)
		}
	}
	return strings.Join(words, ", ")
}

// mergeRows joins rows that try the same at several places.
func mergeRows(class Class) []docsRow {
	var rows []docsRow
	for _, a := range All() {
		if a.Class != class || a.End == Passes {
			continue
		}
		text := strings.ReplaceAll(a.Text(), "|", "\\|")
		at := slices.IndexFunc(rows, func(r docsRow) bool { return r.text == text && r.end == a.End })
		if at < 0 {
			rows = append(rows, docsRow{text, a.End, a.On})
			continue
		}
		rows[at].on |= a.On
	}
	slices.SortStableFunc(rows, func(a, b docsRow) int { return int(a.end) - int(b.end) })
	return rows
}
