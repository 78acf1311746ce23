package state

import (
	"strconv"

	"github.com/hookmux/hookmux/internal/sessions/oneline"
)

const (
	maxSummary = oneline.MaxSummary // characters of a summary, a title, an error
	maxLabel   = 80                 // characters of what goes on now
)

func countOf(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
