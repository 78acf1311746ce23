// Package similar finds the name you meant when you typed one that doesn't exist.
package similar

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the entry of known that is closest to name, or "" when none is close enough
// to be what was meant. A swapped pair of letters is one mistake; so is a missing, extra or
// wrong letter.
func Nearest(name string, known []string) string {
	folded := strings.ToLower(name)
	if folded == "" {
		return ""
	}
	best, least := "", allowed(folded)+1
	for _, candidate := range known {
		other := strings.ToLower(candidate)
		if other == "" {
			continue
		}
		d := distance([]rune(folded), []rune(other))
		if len(folded) >= 3 && d > 1 && strings.HasPrefix(other, folded) {
			d = 1
		}
		if d < least || d == least && best != "" && worse(strings.ToLower(best), other, folded) {
			best, least = candidate, d
		}
	}
	return best
}

// worse reports whether, of two candidates at the same distance, a was less likely meant than
// b: it begins with another letter, or has another length.
func worse(a, b, name string) bool {
	if cut := strings.HasPrefix(a, name); cut != strings.HasPrefix(b, name) { // invit is invite cut off, not init
		return !cut
	}
	if begins := a[:1] == name[:1]; begins != (b[:1] == name[:1]) {
		return !begins
	}
	return off(b, name) < off(a, name)
}

// off returns the difference in length.
func off(a, b string) int { return max(len(a)-len(b), len(b)-len(a)) }

// allowed returns how many mistakes a name of this length may have: one in short names, a third
// of the letters in longer ones.
func allowed(name string) int {
	return max(1, min(3, utf8.RuneCountInString(name)/3))
}

// distance counts the edits from a to b: insertions, deletions, substitutions and swaps of
// neighbours.
func distance(a, b []rune) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := rows[0], rows[1], rows[2]
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, now, before}
	}
	return rows[1][len(b)]
}
