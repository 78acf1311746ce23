package agent

import (
	"slices"
	"testing"
)

func TestExpand(t *testing.T) {
	for file, want := range map[string][]string{
		"~/.x/hooks.json":     {"~/.x/hooks.json"},
		"~/.x/hooks/*.json":   {"~/.x/hooks/"},
		"~/.x/extensions/*/*": {"~/.x/extensions/"},
		"~/.x/*/hooks.json":   {"~/.x/*/hooks.json"},
		"./x.json*":           {"./x.json", "./x.jsonc"},
		"./*.json":            {"./"},
		"~/*":                 {"~/"},
		"/etc/x/policy.d/*":   {"/etc/x/policy.d/"},
		"/*":                  {"/"},
		"*":                   {"*"},
	} {
		if got := ExpandFileNames(file); !slices.Equal(got, want) {
			t.Errorf("%s stands for %q, want %q", file, got, want)
		}
	}
}
