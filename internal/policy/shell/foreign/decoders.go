package foreign

import (
	"strings"
)

// ReverseLines reverses each line, as rev does.
func ReverseLines(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		rs := []rune(l)
		for a, b := 0, len(rs)-1; a < b; a, b = a+1, b-1 {
			rs[a], rs[b] = rs[b], rs[a]
		}
		lines[i] = string(rs)
	}
	return strings.Join(lines, "\n"), true
}
