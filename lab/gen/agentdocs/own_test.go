package main

import (
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// The example that people copy is a description that counts.
func TestTheExampleIsRight(t *testing.T) {
	c, problems := agent.LoadFiles([]agent.File{{Name: "own.yaml", Data: []byte(ownExample)}})
	if len(problems) != 0 {
		t.Fatalf("problems %v, want none", problems)
	}
	if _, ok := c.Agent("mine"); !ok {
		t.Fatal("the catalogue has no agent of the example's name")
	}
}
