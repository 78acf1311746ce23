package sources

import (
	"slices"
	"testing"
)

func TestFilesNamed(t *testing.T) {
	roots := []string{"/src/app", "/src/lib"}
	for path, want := range map[string][]string{
		"~/.x/hooks.json":      {"/home/p/.x/hooks.json"},
		"~/.x/hooks/*.json":    {"/home/p/.x/hooks"},
		"~/.x/extensions/*/*":  {"/home/p/.x/extensions"},
		"~/.x/*/hooks.json":    {"/home/p/.x/*/hooks.json"},
		"./x.json*":            {"/src/app/x.json", "/src/lib/x.json", "/src/app/x.jsonc", "/src/lib/x.jsonc"},
		"./.github/hooks/*.js": {"/src/app/.github/hooks", "/src/lib/.github/hooks"},
		"/etc/x/policy.d/*":    {"/etc/x/policy.d"},
		"./*.json":             nil,
		"~/*":                  nil,
		"/*":                   nil,
	} {
		if got := filesNamed(path, "/home/p", roots); !slices.Equal(got, want) {
			t.Errorf("%s stands for %q, want %q", path, got, want)
		}
	}
}
