package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A package with changes of every fate.
const triedSource = `package tried

import "time"

const limit = 4

type truth bool

func Big(n int) bool { return n > limit }

func Unseen(n int) bool { return n == limit }

func Never(n int) bool { return n == limit }

func Join(a, b string) string { return a + b }

func Count(until int) int {
	n := 0
	for n < until {
		n++
	}
	return n
}

func Wait() time.Duration { return 2 * time.Second }

func Named(a, b int) truth { return a == b }

func Which(n int) string {
	switch {
	case n != 1:
		return "many"
	}
	return "one"
}

func Twice(n uint8) uint8 { return -(n - 1) % 7 }
`

const triedTest = `package tried

import (
	"testing"
	"time"
)

func TestTried(t *testing.T) {
	if Big(limit) || !Big(limit+1) || Count(3) != 3 || Wait() != 2*time.Second || !bool(Named(2, 2)) || Twice(4) != 1 {
		t.Error("wrong")
	}
	Unseen(1)
	if Which(1) != "one" || Join("a", "b") != "ab" {
		t.Error("wrong")
	}
}
`

func writeModule(t *testing.T) string {
	t.Helper()
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/tried\n\ngo 1.26\n", "tried/tried.go": triedSource, "tried/tried_test.go": triedTest,
		"tried/tried_plan9.go": "package tried\n\nfunc Other(n int) bool { return n == 1 }\n",
	} {
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return module
}

// What tests notice is killed, what they only reach lived, and what does not compile is not counted.
func TestTryPackage(t *testing.T) {
	_, rows, err := tryPackage(writeModule(t), "tried", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		fate := strings.TrimSpace(row[:11])
		change := strings.SplitN(row[12:], " ", 3)
		got = append(got, fate+": "+change[1]+" "+change[2])
	}
	slices.Sort(got)
	want := []string{
		"KILLED: ARITHMETIC_BASE in Twice: -(n - 1)", "KILLED: ARITHMETIC_BASE in Twice: -(n - 1) % 7",
		"KILLED: ARITHMETIC_BASE in Twice: n - 1", "KILLED: ARITHMETIC_BASE in Wait: 2 * time.Second",
		"KILLED: CONDITIONALS_BOUNDARY in Big: n > limit", "KILLED: CONDITIONALS_BOUNDARY in Count: n < until",
		"KILLED: CONDITIONALS_NEGATION in Big: n > limit", "KILLED: CONDITIONALS_NEGATION in Count: n < until",
		"KILLED: CONDITIONALS_NEGATION in Named: a == b", "KILLED: CONDITIONALS_NEGATION in Which: n != 1",
		"KILLED: INVERT_NEGATIVES in Twice: -(n - 1)", "KILLED: INVERT_NEGATIVES in Twice: n - 1",
		"LIVED: CONDITIONALS_NEGATION in Unseen: n == limit", "NOT COVERED: CONDITIONALS_NEGATION in Never: n == limit",
		"NOT COVERED: CONDITIONALS_NEGATION in Other: n == 1", "NOT VIABLE: ARITHMETIC_BASE in Join: a + b",
		"TIMED OUT: INCREMENT_DECREMENT in Count: n++",
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes:\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestTally(t *testing.T) {
	for _, row := range []struct {
		counts tally
		text   string
		enough bool
	}{
		{tally{killed: 95, lived: 5, notCovered: 11}, "killed 95.0% (5 lived), covered 90.1% (11 not)", true},
		{tally{killed: 94, lived: 6}, "killed 94.0% (6 lived), covered 100.0% (0 not)", false},
		{tally{killed: 88, notCovered: 12}, "killed 100.0% (0 lived), covered 88.0% (12 not)", false},
		{tally{killed: 19, lived: 1, timedOut: 7}, "killed 95.0% (1 lived), covered 100.0% (0 not)", true},
	} {
		if got := row.counts.String(); !strings.HasPrefix(got, row.text) || row.counts.isEnough() != row.enough {
			t.Errorf("%v: got %q, enough %v; want %q, %v", row.counts, got, row.counts.isEnough(), row.text, row.enough)
		}
	}
}

func TestEquivalentRows(t *testing.T) {
	m := &mutated{dir: "p", changes: []*change{
		{file: "p/a.go", function: "F", text: "a < b", replacement: replacement{kind: boundary}, state: lived},
		{file: "p/a.go", function: "F", text: "a > b", replacement: replacement{kind: boundary}, state: killed},
	}}
	rows, err := parseEquivalent("# comment\n\np/a.go F | CONDITIONALS_BOUNDARY | a < b | both are the same\nq/a.go F | K | x | y\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.markEquivalent(rows); err != nil || m.changes[0].state != equivalent {
		t.Errorf("a row about a change that lived: got %v and state %s, want it taken out", err, m.changes[0].state)
	}
	rows, err = parseEquivalent("p/a.go F | CONDITIONALS_BOUNDARY | a > b | noticed by now")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.markEquivalent(rows); err == nil || !strings.Contains(err.Error(), "not needed") {
		t.Errorf("a row about a change that tests notice: got error %v, want one that says it is not needed", err)
	}
	if _, err := parseEquivalent("p/a.go F | K | a > b"); err == nil || !strings.Contains(err.Error(), "equivalent.txt:1") {
		t.Errorf("a row without a reason: got error %v, want one that names the row", err)
	}
}
