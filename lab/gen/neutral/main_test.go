package main

import (
	"os"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/neutral"
)

func TestTableIsUpToDate(t *testing.T) {
	want, err := render(agent.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../agent/neutral/table.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("agent/neutral/table.go is not what the catalogue says; run: go generate ./agent/...")
	}
}

func TestEveryRowIsFound(t *testing.T) {
	c := agent.Builtin()
	for _, a := range c.Agents() {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			for _, e := range a.Events {
				row, ok := neutral.Lookup(name, e.Name)
				if !ok || row != rowOf(c, a, e) {
					t.Errorf("%s %s: row = %+v, want ok and rowOf(c, a, e)", name, e.Name, row)
				}
			}
		}
	}
	if row, ok := neutral.Lookup("nobody", "PreToolUse"); ok || row != (neutral.Row{}) {
		t.Error("found something for an unknown agent")
	}
}
