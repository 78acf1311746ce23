package ownfiles

import (
	"testing"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/verbs"
)

// A command that decides or weakens is protected by its row in the table of verbs alone: nothing else names it.
func TestANewCommandIsProtected(t *testing.T) {
	added := []verbs.Verb{
		{Path: "vaults", Effect: verbs.Read, Summary: "lists vaults"},
		{Path: "vaults empty", Effect: verbs.Decide, Summary: "empties a vault"},
		{Path: "vaults unlock", Effect: verbs.Weaken, Summary: "opens a vault"},
		{Path: "zap", Effect: verbs.Use, Summary: "starts something"},
	}
	before, with := New(facts.Machine{}), New(facts.Machine{})
	with.verbs = verbs.NewTable(append(verbs.All(), added...))
	for command, want := range map[string]string{
		"hookmux vaults":                               "",
		"hookmux zap":                                  "",
		"hookmux vaults unlock --all":                  "own-files.control",
		"hookmux vaults empty 1":                       "own-files.control",
		"/usr/local/bin/hookmux --json vaults empty 1": "own-files.control",
		"sh -c 'cd /tmp && hookmux vaults unlock'":     "own-files.control",
		"hookmux vaults unlock --help":                 "",
	} {
		if got := checkLine(before, command); got != "" {
			t.Errorf("%s without its row: %q, want nothing: the test has to name a command that doesn't exist", command, got)
		}
		if got := checkLine(with, command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
		if want != "" && !with.MustParse(command) {
			t.Errorf("%s isn't parsed, so nothing checks it", command)
		}
	}
}

// Every command in the table that decides or weakens is protected, and no other is.
func TestEveryCommandThatDecidesOrWeakensIsProtected(t *testing.T) {
	c := New(facts.Machine{})
	for _, v := range verbs.All() {
		if got := checkLine(c, "hookmux "+v.Path) != ""; got != v.ForUser() {
			t.Errorf("hookmux %s, which can %s: protected %v, want %v", v.Path, v.Effect, got, v.ForUser())
		}
	}
}
