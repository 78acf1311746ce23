// Mutate changes the code of packages that decide, one small change at a time, and counts how many
// of the changes the packages' own tests notice.
//
//	go run ./lab/gen/mutate DIR PACKAGE…
//
// The changes, and what is counted, are those of gremlins: 95% of the changes that tests reach must
// be noticed, and tests must reach 90%. A change that never ends is in neither number. The method
// is different, because compiling and linking every change takes hours: all changes of a package
// are compiled into one test binary, each switched on by an environment variable, and only the
// tests that reach it are run. Changes of what must stay a constant are compiled one by one. A
// change that doesn't compile isn't counted (gremlins 0.6.0 takes it for noticed).
//
// A list for each package is written to DIR. equivalent.txt has the changes that make no
// difference, each with its reason.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const (
	leastKilled  = 95
	leastCovered = 90
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: mutate DIR PACKAGE…")
		os.Exit(2)
	}
	module, err := os.Getwd()
	if err == nil {
		err = os.MkdirAll(os.Args[1], 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	failed := false
	for _, dir := range os.Args[2:] {
		counts, rows, err := tryPackage(module, filepath.ToSlash(filepath.Clean(dir)), leastTime)
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutate: %s: %v\n", dir, err)
			failed = true
			continue
		}
		fmt.Printf("%s: %s\n", dir, counts)
		list := filepath.Join(os.Args[1], strings.ReplaceAll(dir, "/", "-")+".txt")
		text := counts.String() + "\n" + strings.Join(rows, "\n") + "\n"
		if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			failed = true
		}
		failed = failed || !counts.isEnough()
	}
	if failed {
		os.Exit(1)
	}
}

// tryPackage tries every change of one package and returns the results.
func tryPackage(module, dir string, patience time.Duration) (tally, []string, error) {
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(work)
	m, err := loadPackage(module, dir)
	if err != nil {
		return nil, nil, err
	}
	m.patience = patience
	known, err := parseEquivalent(equivalentText)
	if err != nil {
		return nil, nil, err
	}
	binary, err := m.buildSwitched(work)
	if err != nil {
		return nil, nil, err
	}
	tests, err := m.listTests(binary, work)
	if err != nil {
		return nil, nil, err
	}
	if err := m.markUncovered(work, tests); err != nil {
		return nil, nil, err
	}
	m.tryChanges(binary, work, tests, runtime.NumCPU())
	if err := m.markEquivalent(known); err != nil {
		return nil, nil, err
	}
	counts, rows := tally{}, []string{}
	for _, c := range m.changes {
		counts[c.state]++
		rows = append(rows, fmt.Sprintf("%-11s %s", c.state, c))
	}
	slices.Sort(rows)
	return counts, rows, nil
}

// tally holds how many changes ended in which state.
type tally map[state]int

func (t tally) killedPercent() float64 { return percent(t[killed], t[lived]) }

func (t tally) coveredPercent() float64 { return percent(t[killed]+t[lived], t[notCovered]) }

// percent returns the share of part in part and rest; nothing at all is everything.
func percent(part, rest int) float64 {
	if part+rest == 0 {
		return 100
	}
	return 100 * float64(part) / float64(part+rest)
}

func (t tally) isEnough() bool {
	return t.killedPercent() >= leastKilled && t.coveredPercent() >= leastCovered
}

func (t tally) String() string {
	return fmt.Sprintf("killed %.1f%% (%d lived), covered %.1f%% (%d not); %d killed, %d timed out, %d equivalent",
		t.killedPercent(), t[lived], t.coveredPercent(), t[notCovered], t[killed], t[timedOut], t[equivalent])
}
