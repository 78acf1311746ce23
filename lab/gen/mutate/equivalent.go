package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalent.txt
var equivalentText string

// equivalence is one row: a change that makes no difference, and why.
type equivalence struct{ file, function, kind, text, reason string }

// parseEquivalent reads rows "FILE FUNCTION | KIND | EXPRESSION | REASON".
func parseEquivalent(text string) ([]equivalence, error) {
	var rows []equivalence
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		file, function, found := strings.Cut(fields[0], " ")
		if len(fields) != 4 || !found || fields[3] == "" {
			return nil, fmt.Errorf("equivalent.txt:%d: want FILE FUNCTION | KIND | EXPRESSION | REASON", i+1)
		}
		rows = append(rows, equivalence{file, function, fields[1], fields[2], fields[3]})
	}
	return rows, nil
}

// markEquivalent excludes the listed changes from the count. A row for a change that tests notice is an error, and so
// is a row for nothing.
func (m *mutated) markEquivalent(rows []equivalence) error {
	for _, row := range rows {
		if row.file[:strings.LastIndex(row.file, "/")] != m.dir {
			continue
		}
		needed := false
		for _, c := range m.changes {
			same := c.file == row.file && c.function == row.function && c.kind == row.kind && c.text == row.text
			if same && c.state == lived {
				c.state, needed = equivalent, true
			}
		}
		if !needed {
			return fmt.Errorf("equivalent.txt: the row about %q in %s is not needed: remove it", row.text, row.function)
		}
	}
	return nil
}
