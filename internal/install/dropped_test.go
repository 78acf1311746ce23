package install

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// Cursor drops a whole file over one thing in it, and runs without hooks: such a file is
// refused, with the line and what to do, and the doctor names it.
func TestCursorFilesThatWouldBeDropped(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"an address in a command": {`{"version": 1, "hooks": {
  "stop": [{"command": "curl https://example.com"}]}}`, "line 2: Cursor takes // and /* for a comment"},
		"a comment in a command": {`{"version": 1, "hooks": {"stop": [{"command": "ls /a/* /b/*/c"}]}}`,
			"line 1: Cursor takes // and /* for a comment"},
		"an unknown event": {"{\"version\": 1, \"hooks\": {\n\"beforeLunch\": []}}", "line 2: Cursor knows no event beforeLunch"},
		"a last comma":     {`{"version": 1, "hooks": {"stop": [{"command": "true"},]}}`, "without a comma behind the last one"},
	} {
		h := newHost(t)
		a := known(t, "cursor")
		file := filepath.Join(h.Dirs.Home, ".cursor/hooks.json")
		write(t, file, c.text)
		_, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "drops the whole") {
			t.Errorf("%s: error %v, want one that says %q and that the file is dropped", name, err, c.says)
		}
		if got := read(t, file); got != c.text {
			t.Errorf("%s: the file is %q, want it as it was", name, got)
		}
	}
}

// Comments beside commands are fine with Cursor and stay; a version that is missing is
// added, and gone again afterwards.
func TestCursorFilesThatAreFixed(t *testing.T) {
	for _, text := range []string{
		"{\n  // mine\n  \"version\": 1, /* mine too */\n  \"hooks\": {}\n}\n",
		"{}", "{}\n", `{"hooks": {}}`, "{\n  \"hooks\": {\n    \"stop\": []\n  }\n}\n",
	} {
		h := newHost(t)
		a := known(t, "cursor")
		file := filepath.Join(h.Dirs.Home, ".cursor/hooks.json")
		write(t, file, text)
		mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
		if got := read(t, file); strings.Count(got, `"version": 1`)+strings.Count(got, `"version":1`) != 1 {
			t.Errorf("%q: has become %s, want it with one version", text, got)
		}
		for _, s := range h.ReadSites(a) {
			if s.Path == file && len(s.Stale) > 0 {
				t.Errorf("%q: the doctor finds %q, want nothing", text, s.Stale)
			}
		}
		mustUninstall(t, h, a)
		if got := read(t, file); got != text {
			t.Errorf("%q: is %q after the uninstall, want it as it was", text, got)
		}
	}
}

// Hooks that a person adds to a file of ours keep the version they need.
func TestCursorVersionStaysForOthers(t *testing.T) {
	h := newHost(t)
	a := known(t, "cursor")
	file := filepath.Join(h.Dirs.Home, ".cursor/hooks.json")
	write(t, file, "{}")
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	text := strings.Replace(read(t, file), `"stop": [`, `"stop": [{"command": "theirs"}, `, 1)
	if !strings.Contains(text, "theirs") {
		text = strings.Replace(text, `"stop":[`, `"stop":[{"command": "theirs"}, `, 1)
	}
	write(t, file, text)
	mustUninstall(t, h, a)
	if got := read(t, file); !strings.Contains(got, "theirs") || !strings.Contains(got, "version") {
		t.Errorf("after the uninstall the file is %s, want their hook and its version", got)
	}
	// One that was written meanwhile and breaks the file is named.
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	write(t, file, strings.Replace(read(t, file), "theirs", "curl https://example.com", 1))
	for _, s := range h.ReadSites(a) {
		if s.Path == file && (len(s.Stale) != 1 || !strings.Contains(s.Stale[0], "drops the whole")) {
			t.Errorf("the doctor finds %q, want that Cursor drops the file", s.Stale)
		}
	}
}
