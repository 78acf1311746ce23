package queue

import "github.com/hookmux/hookmux/internal/wire"

// maxDiff is the largest product of lines that are compared with each other; of longer
// texts everything goes and everything comes.
const maxDiff = 1 << 20

// diffLines returns how old becomes fresh: every line of both, marked with what becomes of it.
// Lines that stay are indented as far as the marks are wide.
func diffLines(old, fresh []string) []string {
	first := 0
	for first < len(old) && first < len(fresh) && old[first] == fresh[first] {
		first++
	}
	last := 0 // lines at the end that stay
	for last < len(old)-first && last < len(fresh)-first && old[len(old)-1-last] == fresh[len(fresh)-1-last] {
		last++
	}
	const stays = "  "
	var out []string
	mark := func(with string, lines []string) {
		for _, line := range lines {
			out = append(out, with+line)
		}
	}
	mark(stays, old[:first])
	a, b := old[first:len(old)-last], fresh[first:len(fresh)-last]
	if len(a)*len(b) > maxDiff {
		mark(wire.CardRemoved, a)
		mark(wire.CardAdded, b)
	} else {
		common := commonLengths(a, b)
		i, j := 0, 0
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				mark(stays, a[i:i+1])
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				mark(wire.CardRemoved, a[i:i+1])
				i++
			default:
				mark(wire.CardAdded, b[j:j+1])
				j++
			}
		}
		mark(wire.CardRemoved, a[i:])
		mark(wire.CardAdded, b[j:])
	}
	mark(stays, old[len(old)-last:])
	return out
}

// commonLengths has for each pair of places how many lines the rests have in common.
func commonLengths(a, b []string) [][]int32 {
	table := make([][]int32, len(a)+1)
	for i := range table {
		table[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
