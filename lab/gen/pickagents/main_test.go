package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/realagents"
)

var usual = []string{"claude", "codex", "grok", "gemini", "opencode", "pi"}

// A commit always picks the same agents, none twice, after those that are fixed.
func TestCommitPicksAgents(t *testing.T) {
	seen := map[string]int{}
	for n := range 400 {
		commit := fmt.Sprintf("%040x", n*7919)
		picked := pickAgents(commit, usual, 2)
		if again := pickAgents(commit+"\n", usual, 2); !slices.Equal(picked, again) {
			t.Fatalf("commit %s picked %v and then %v, want the same", commit, picked, again)
		}
		if len(picked) != len(usual)+2 || !slices.Equal(picked[:len(usual)], usual) {
			t.Fatalf("commit %s picked %v, want %v and two more", commit, picked, usual)
		}
		for _, name := range picked[len(usual):] {
			seen[name]++
			if a, _ := realagents.Find(name); a.Large || slices.Contains(usual, name) {
				t.Errorf("commit %s picked %s, want none that is large or fixed", commit, name)
			}
		}
		if picked[len(usual)] == picked[len(usual)+1] {
			t.Errorf("commit %s picked %s twice, want two agents", commit, picked[len(usual)])
		}
	}
	for _, name := range eligible(usual) {
		if seen[name] == 0 {
			t.Errorf("400 commits never picked %s, want it to have its turn", name)
		}
	}
}

// The hash runs out of agents before it picks one twice.
func TestNoMoreAgentsThanThereAre(t *testing.T) {
	picked := pickAgents("c0ffee", nil, 1000)
	if want := len(eligible(nil)); len(picked) != want {
		t.Errorf("picked %d agents, want all %d", len(picked), want)
	}
}

// .ci/run says which agents it asks and how to ask the same ones again; two of
// them are asked everything, the others what the catalogue claims about them.
func TestRunOfTheDay(t *testing.T) {
	// In place of make: writes down what it was called for.
	const played = "#!/bin/sh\ncase \"$*\" in *ci-agents*) echo claude codex grok gemini opencode pi kimi droid; exit;; esac\n" +
		"echo \"$*\" >>\"$CALLS\"\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "make"), []byte(played), 0o700); err != nil {
		t.Fatal(err)
	}
	const rows = "RUN=^TestReal(Names|Version|Checks|Rules)$"
	for _, test := range []struct{ agents, list, calls string }{
		{"", "claude codex grok gemini opencode pi kimi droid", "verify AGENTS=claude codex\n" +
			"verify AGENTS=grok gemini opencode pi kimi droid " + rows},
		{"qwen codex", "qwen codex", "verify AGENTS=codex\nverify AGENTS=qwen " + rows},
		{"claude", "claude", "verify AGENTS=claude"},
	} {
		calls := filepath.Join(dir, "calls")
		cmd := exec.Command("sh", "../../../.ci/run")
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "CALLS="+calls, "AGENTS="+test.agents)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf(".ci/run: %v\n%s", err, out)
		}
		if want := `AGENTS="` + test.list + `" .ci/run`; !strings.Contains(string(out), want) {
			t.Errorf("AGENTS=%q: .ci/run said %s, want %s in it", test.agents, out, want)
		}
		called, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(called)); got != "test\n"+test.calls {
			t.Errorf("AGENTS=%q: .ci/run called\n%s\nwant test and\n%s", test.agents, got, test.calls)
		}
		if err := os.Remove(calls); err != nil {
			t.Fatal(err)
		}
	}
}

// The list of make is made of agents that exist.
func TestUsualAgentsOfMake(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if want := "AGENTS  ?= " + strings.Join(usual, " ") + "\n"; !strings.Contains(string(makefile), want) {
		t.Errorf("the Makefile has not the line %q, want it there and in this test", want)
	}
	for _, name := range usual {
		if _, known := realagents.Find(name); !known {
			t.Errorf("the Makefile names %s, want an agent of the table", name)
		}
	}
}
