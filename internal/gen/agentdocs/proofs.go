package main

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/agentfacts"
	"github.com/hookmux/hookmux/internal/verify/recordings"
)

// proofKinds are the proofs an agent may have, the strongest first: the vendor's
// own program did it, or its vendor says so.
var proofKinds = []struct{ tier, words string }{
	{agentfacts.TierFull, "driven: a refusal stopped the call, changed input ran, words reached the model, it was " +
		"kept going"},
	{agentfacts.TierDecides, "driven: a refusal stopped the call"},
	{agentfacts.TierObserves, "driven: it called the hook, and no refusal can stop it"},
	{agentfacts.TierDriven, "driven: it played a turn, and its payloads were kept"},
	{agentfacts.TierUnproven, "its vendor's word, a stand-in, or single runs in a lab"},
}

// countProofs sorts the agents of the catalogue by their proof.
func countProofs(c *agent.Catalogue, seen map[string]recordings.Summary) (byTier map[string][]string, all, driven int) {
	byTier = map[string][]string{}
	for _, a := range c.Agents() {
		tier := agentfacts.Facts{Agent: a, Seen: seen[a.Name]}.Tier()
		byTier[tier] = append(byTier[tier], a.Title)
		all++
		if tier != agentfacts.TierUnproven {
			driven++
		}
	}
	return byTier, all, driven
}

// proofTable is the count for docs/verify.md.
func proofTable(c *agent.Catalogue, seen map[string]recordings.Summary) string {
	byTier, all, driven := countProofs(c, seen)
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents are in the catalogue, %d of them driven.\n\n| Proof | Agents | Which |\n|---|---|---|\n",
		all, driven)
	for _, kind := range proofKinds {
		if names := byTier[kind.tier]; len(names) > 0 {
			fmt.Fprintf(&b, "| %s | %d | %s |\n", kind.words, len(names), strings.Join(names, ", "))
		}
	}
	return b.String()
}

// proofLines is the same for a terminal.
func proofLines(c *agent.Catalogue, seen map[string]recordings.Summary) string {
	byTier, all, driven := countProofs(c, seen)
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents in the catalogue, %d driven in the recordings\n", all, driven)
	for _, kind := range proofKinds {
		if names := byTier[kind.tier]; len(names) > 0 {
			fmt.Fprintf(&b, "%3d %s: %s\n", len(names), kind.words, strings.Join(names, ", "))
		}
	}
	return b.String()
}

// The table stands between these lines of docs/verify.md.
const (
	proofsBegin = "<!-- Counted by internal/gen/agentdocs; run: go generate ./agent/... -->\n"
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
