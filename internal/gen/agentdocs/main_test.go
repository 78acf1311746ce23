package main

import (
	"os"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

func TestPageIsUpToDate(t *testing.T) {
	got, err := os.ReadFile("../../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(render(agent.Builtin())) {
		t.Error("docs/agents.md is not what the catalogue says; run: go generate ./agent/...")
	}
}
