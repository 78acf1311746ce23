package main

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/ui/agentfacts"
)

// evidenceKinds are the kinds of evidence, the strongest first.
var evidenceKinds = []struct {
	kind  agentfacts.Evidence
	words string
}{
	{agentfacts.Tested, "tested: a real one ran, and hooks worked"},
	{agentfacts.Documented, "documented: its vendor says so"},
	{agentfacts.Untested, "untested"},
}

// countEvidence sorts the agents of the catalogue by how they're known.
func countEvidence(c *agent.Catalogue, seen map[string]recordings.Summary) (byKind map[agentfacts.Evidence][]string, all int) {
	byKind = map[agentfacts.Evidence][]string{}
	for _, a := range c.Agents() {
		kind := agentfacts.Facts{Agent: a, Seen: seen[a.Name]}.Evidence()
		byKind[kind] = append(byKind[kind], a.Title)
		all++
	}
	return byKind, all
}

// proofTable returns the count for docs/contributing/verify.md.
func proofTable(c *agent.Catalogue, seen map[string]recordings.Summary) string {
	byKind, all := countEvidence(c, seen)
	var b strings.Builder
	fmt.Fprintf(&b, "hookmux knows %d agents, %d of them tested.\n\n| Evidence | Agents | Which |\n|---|---|---|\n",
		all, len(byKind[agentfacts.Tested]))
	for _, kind := range evidenceKinds {
		if names := byKind[kind.kind]; len(names) > 0 {
			fmt.Fprintf(&b, "| %s | %d | %s |\n", kind.words, len(names), strings.Join(names, ", "))
		}
	}
	return b.String()
}

// proofLines returns the same for a terminal.
func proofLines(c *agent.Catalogue, seen map[string]recordings.Summary) string {
	byKind, all := countEvidence(c, seen)
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents, %d of them tested\n", all, len(byKind[agentfacts.Tested]))
	for _, kind := range evidenceKinds {
		if names := byKind[kind.kind]; len(names) > 0 {
			fmt.Fprintf(&b, "%3d %s: %s\n", len(names), kind.words, strings.Join(names, ", "))
		}
	}
	return b.String()
}

// The table is between these lines of docs/contributing/verify.md.
const (
	proofsBegin = "<!-- Counted by lab/gen/agentdocs; run: go generate ./agent/... -->\n"
	proofsEnd   = "<!-- end of what is counted -->\n"
)

// withProofs puts the table in its place in a page.
func withProofs(page, table string) (string, error) {
	before, rest, begins := strings.Cut(page, proofsBegin)
	_, after, ends := strings.Cut(rest, proofsEnd)
	if !begins || !ends {
		return "", fmt.Errorf("verify.md has not the lines between which agents are counted: %q and %q", proofsBegin,
			proofsEnd)
	}
	return before + proofsBegin + table + proofsEnd + after, nil
}
