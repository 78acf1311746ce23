package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/verify/recordings"
)

func TestPageIsUpToDate(t *testing.T) {
	got, err := os.ReadFile("../../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	seen, err := recordings.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(render(agent.Builtin(), seen)) {
		t.Error("docs/agents.md is not what the catalogue says; run: go generate ./agent/...")
	}
}

// An agent that was only driven is not called verified.
func TestDrivenIsNotVerified(t *testing.T) {
	say := func(check string) string {
		var b bytes.Buffer
		verified(&b, recordings.Summary{Version: "1.2.3",
			Rows: []recordings.Row{{Check: check, Mark: "✓", Why: "seen"}}})
		return b.String()
	}
	if got := say("turn"); !strings.Contains(got, "claims not verified") || strings.Contains(got, "Verified") {
		t.Errorf(`say("turn") = %q, want "claims not verified" in it and no "Verified" in it`, got)
	}
	if got := say("neutral"); !strings.Contains(got, "Verified with version 1.2.3") {
		t.Errorf(`say("neutral") = %q, want "Verified with version 1.2.3" in it`, got)
	}
}

// A tier is what was proven, never what is claimed.
func TestTiersAreProven(t *testing.T) {
	a, _ := agent.Builtin().Agent("claude")
	row := func(check, event, claim, mark string) recordings.Row {
		return recordings.Row{Check: check, Event: event, Claim: claim, Mark: mark}
	}
	deny := row("deny", "PreToolUse", "deny", "✓")
	all := []recordings.Row{deny, row("input", "PreToolUse", "input", "✓"),
		row("context", "SessionStart", "context", "✓"), row("keep", "Stop", "keep", "✓")}
	for want, rows := range map[string][]recordings.Row{
		"driven":   {row("turn", "", "", "✓")},
		"observes": {row("decodes", "PreToolUse", "", "✓"), row("decodes", "PostToolUse", "", "✓"), row("deny", "PreToolUse", "deny", "–"), row("deny-prompt", "UserPromptSubmit", "deny", "✓")},
		"decides":  {deny, row("input", "PreToolUse", "input", "–")},
		"full":     all,
	} {
		if got := tier(a, recordings.Summary{Version: "1", Rows: rows}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := tier(a, recordings.Summary{}); got != "unproven" {
		t.Errorf(`tier(a, recordings.Summary{}) = %q, want "unproven"`, got)
	}
}
