package main

import (
	"os"
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
