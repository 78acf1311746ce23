//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// The test program is its own worlds and holders of locks.
func TestMain(m *testing.M) {
	if code, done := runInside(); done {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// A short run with the same faults every time. How fast a daemon is back is for
// `make chaos`: here only that it comes back counts.
func TestPromisesHoldUnderFaults(t *testing.T) {
	bin := sandbox.TempDir(t)
	if err := programs.Build(bin, programs.Options{}); err != nil {
		t.Fatal(err)
	}
	// The load leaves room for other tests.
	o := runOptions{Bin: bin, Faults: 25, Seed: 11, Worlds: 5, Back: 2 * time.Minute, Calm: 50 * time.Millisecond,
		Pace: 100 * time.Millisecond}
	if testing.Short() {
		o.Faults, o.Worlds = 10, 2
	}
	results, err := runWorlds(o)
	if err != nil {
		t.Fatal(err)
	}
	var summary strings.Builder
	if !printSummary(&summary, o, results) {
		t.Errorf("repeat with: go run ./lab/chaos -faults %d -seed %d -worlds %d\n%s", o.Faults, o.Seed, o.Worlds,
			summary.String())
	}
	t.Log(summary.String())
	for _, r := range results {
		if r.Counts.Dangerous == 0 || r.Acked == 0 {
			t.Errorf("world %d: %d dangerous calls and %d acknowledged events; want some of both", r.World,
				r.Counts.Dangerous, r.Acked)
		}
	}
}

func TestDecisionsAreRead(t *testing.T) {
	for want, answers := range map[string][]sandbox.Answer{
		"neutral": {
			{}, {Stdout: "rubbish"}, {Exit: 1}, {Stdout: "{}"},
			{Stdout: `{"hookSpecificOutput":{"permissionDecision":"deny"}}`},
		},
		"deny": {
			{Exit: 2}, {Stdout: `{"decision":"block"}`},
			{Stdout: `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}`},
		},
		"ask":   {{Stdout: `{"hookSpecificOutput":{"permissionDecision":"ask"}}`}},
		"allow": {{Stdout: `{"hookSpecificOutput":{"permissionDecision":"allow"}}`}},
	} {
		for _, a := range answers {
			if got := decisionOf(a); got != want {
				t.Errorf("%v was read as %s, want %s", a, got, want)
			}
		}
	}
}

func TestMemoryThatGrowsIsNoticed(t *testing.T) {
	flat, growing := result{}, result{}
	for n := range fewFaults {
		flat.Memory = append(flat.Memory, 50<<10+n%7)
		growing.Memory = append(growing.Memory, 50<<10+n<<10)
	}
	if found := checkMemory(flat); len(found) != 0 {
		t.Errorf("flat memory: %v; want len(found) == 0", found)
	}
	if found := checkMemory(growing); len(found) != 1 {
		t.Errorf("growing memory: %v; want len(found) == 1", found)
	}
	if found := checkMemory(result{Memory: []int{mostMemory + 1}}); len(found) != 1 {
		t.Errorf("too much memory: %v", found)
	}
}
