package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/ui/agentfacts"
)

const docs = "../../../docs"

func TestPagesAreUpToDate(t *testing.T) {
	pages, err := renderPages(agent.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil || string(got) != want {
			t.Errorf("docs/%s is not what the catalogue says (%v); run: go generate ./agent/...", name, err)
		}
	}
	there, err := pagesThere(docs)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if _, wanted := pages[name]; !wanted {
			t.Errorf("docs/%s is of no agent; run: go generate ./agent/...", name)
		}
	}
}

// A page of an agent that is gone goes with it, and nothing else does.
func TestStalePagesGo(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agents/gone.md", "other.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writePages(dir); err != nil {
		t.Fatal(err)
	}
	there, err := pagesThere(dir)
	if err != nil || len(there) != len(agent.Builtin().Agents()) || slices.Contains(there, "agents/gone.md") {
		t.Errorf("pages %v, error %v; want one for each of %d agents and not agents/gone.md", there, err,
			len(agent.Builtin().Agents()))
	}
	if _, err := os.Stat(filepath.Join(dir, "other.md")); err != nil {
		t.Errorf("other.md: %v, want it left alone", err)
	}
}

// An agent that was only driven is not called verified.
func TestDrivenIsNotVerified(t *testing.T) {
	a, _ := agent.Builtin().Agent("claude")
	say := func(check string) string {
		return agentPage(a, recordings.Summary{Version: "1.2.3",
			Rows: []recordings.Row{{Check: check, Mark: "✓", Why: "seen"}}})
	}
	if got := say("turn"); !strings.Contains(got, "only payloads of 1.2.3 were recorded") || strings.Contains(got, "checks passed") {
		t.Errorf(`page = %q, want "only payloads of 1.2.3 were recorded" in it and no "verified with"`, got)
	}
	if got := say("neutral"); !strings.Contains(got, "documented with 1.2.3") {
		t.Errorf(`page = %q, want "documented with 1.2.3" in it`, got)
	}
}

// The summary is first: what hooks can do, how to install, what to look out for.
func TestSummaryIsFirst(t *testing.T) {
	pages, err := renderPages(agent.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agent.Builtin().Agents() {
		text := pages[filepath.Join("agents", a.Name+".md")]
		at := -1
		for _, part := range []string{"# " + a.Title, "**A hook can**", "**Evidence**", "**Install**", "**Resume**"} {
			next := strings.Index(text, part)
			if next <= at {
				t.Errorf("page of %s: %q is at %d, want it after %d", a.Name, part, next, at)
			}
			at = next
		}
	}
}

// An agent that was added by one file has a page and a row.
func TestAddedAgentHasAPage(t *testing.T) {
	c, problems := agent.Load("../../../agent/testdata/added")
	if len(problems) > 0 {
		t.Fatalf("problems %v, want none", problems)
	}
	pages, err := renderPages(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := pages["agents/shaped.md"]; !strings.Contains(got, "`hookmux install shaped` adds entries to "+
		"`~/.shaped/settings.json`") || !strings.Contains(got, "**A hook can** block a tool call, approve it") {
		t.Errorf("its page is\n%s\nwant how it is installed and what it takes", got)
	}
	if !strings.Contains(pages["agents.md"], "| [Shaped](agents/shaped.md) | ○ |") {
		t.Errorf("the table is\n%s\nwant a row of Shaped", pages["agents.md"])
	}
}

// docs/contributing/verify.md counts every agent once, by the proof there is.
func TestAgentsAreCounted(t *testing.T) {
	seen, err := recordings.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(docs, "contributing", "verify.md"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := withProofs(string(page), proofTable(agent.Builtin(), seen))
	if err != nil || string(page) != want {
		t.Errorf("docs/contributing/verify.md does not count the agents as they are (%v); run: go generate ./agent/...", err)
	}
	byKind, all := countEvidence(agent.Builtin(), seen)
	sum := 0
	for _, kind := range evidenceKinds {
		sum += len(byKind[kind.kind])
	}
	if tested := len(byKind[agentfacts.Tested]); sum != all || all != len(agent.Builtin().Agents()) || tested > len(seen) {
		t.Errorf("%d agents by evidence, %d in all, %d tested; want %d, the same, and at most the %d recorded", sum, all,
			tested, len(agent.Builtin().Agents()), len(seen))
	}
	if _, err := withProofs("a page", ""); err == nil {
		t.Error("a page without a place for the count is taken, want an error")
	}
}
