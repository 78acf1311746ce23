package programs

import "testing"

func TestBranches(t *testing.T) {
	for ref, want := range map[string]bool{"main": true, "refs/heads/main": true, "heads/prod": true, "release/1.2": true,
		"release/1/2": true, "release-3": true, "release": true, "feature/main": false, "mainline": false, "releases": false, "": false} {
		if got := IsProtectedBranch(ref); got != want {
			t.Errorf("IsProtectedBranch(%q) = %v, want %v", ref, got, want)
		}
	}
	const text = `[{main-branches}] ^({protected-branch})$ ({main-branch})`
	const want = `[main, master, trunk, production] ^(main|master|trunk|develop|dev|production|prod|staging|release|stable|` +
		`gh-pages|release/.*|release-.*)$ (main|master|trunk|production)`
	if got := string(ExpandBranches([]byte(text))); got != want {
		t.Errorf("expanded to %s", got)
	}
}
