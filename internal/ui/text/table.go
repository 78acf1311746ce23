package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// leastWrapped is how narrow a wrapped text may become before it moves to a line
// of its own.
const leastWrapped = 24

// Wrap breaks a text between words so that it fits a terminal. Its first line begins after
// indent columns, and so do the others. Width 0 means no terminal.
func Wrap(text string, width, indent int) string {
	if width <= 0 || width-indent < leastWrapped {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		n := termsafe.Width(plain(word))
		switch {
		case i == 0:
		case used+1+n > width-indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// Table lines up columns. The last one is wrapped at the terminal's width, below itself, or
// below the row if there is little room; width 0 leaves it as it is. Cells are shown as they
// are: make an agent's text visible before.
func Table(w io.Writer, rows [][]string, width int) {
	widths := columnWidths(rows)
	indent := 0
	for _, n := range widths[:max(0, len(widths)-1)] {
		indent += n + 2
	}
	for _, row := range rows {
		fmt.Fprintln(w, tableRow(row, widths, width, indent))
	}
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			n := termsafe.Width(cell)
			if i >= len(widths) {
				widths = append(widths, n)
			} else {
				widths[i] = max(widths[i], n)
			}
		}
	}
	return widths
}

// tableWidth returns how wide a table is if nothing is wrapped.
func tableWidth(rows [][]string) int {
	total := -columnGap
	for _, n := range columnWidths(rows) {
		total += n + columnGap
	}
	return total
}

func tableRow(row []string, widths []int, width, indent int) string {
	var b strings.Builder
	for i, cell := range row {
		if i < len(widths)-1 {
			b.WriteString(pad(cell, widths[i]+2))
			continue
		}
		if width > 0 && width-indent < leastWrapped && termsafe.Width(cell) > width-indent {
			const below = 4
			return strings.TrimRight(b.String(), " ") + "\n" + strings.Repeat(" ", below) + Wrap(cell, width, below)
		}
		b.WriteString(Wrap(cell, width, indent))
	}
	return strings.TrimRight(b.String(), " ")
}
