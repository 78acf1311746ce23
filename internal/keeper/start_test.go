package keeper

import (
	"strings"
	"testing"
)

func TestShows(t *testing.T) {
	for line, want := range map[string]bool{
		"status": true, "status --json": true, "config": true, "config --json": true, "config get journal.keep": true,
		"guard list --json": true, "trust show": true, "audit verify": true,
		"": false, "daemon": false, "config set guard.destructive off": false, "guard off destructive": false,
		"config --project=false set guard.destructive off": false, "config --json set guard.destructive off": false,
		"config -- set guard.destructive off": false, "trust": false, "trust --yes": false, "trust --yes=true add": false, "guard --json list": false,
		"guard -j x off": false, "audit ''": false,
	} {
		if got := Shows(strings.Fields(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
