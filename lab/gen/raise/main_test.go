package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/realagents"
)

// Every pin can be found in the table and in a package, so that raising it
// changes exactly that.
func TestEveryPinCanBeRaised(t *testing.T) {
	b, err := os.ReadFile("../../../internal/realagents/table.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range realagents.Names() {
		a, _ := realagents.Find(name)
		text, err := repin(string(b), name, "Version", a.Version, "99.0.0")
		if err != nil {
			t.Errorf("%s: error %v, want no error", name, err)
			continue
		}
		if strings.Count(text, `"99.0.0"`) != 1 || len(text)-len(b) != len("99.0.0")-len(a.Version) {
			t.Errorf("%s: more than its version changed", name)
		}
		if a.Prints != "" {
			if _, err := repin(string(b), name, "Prints", a.Prints, "99.0.0"); err != nil {
				t.Errorf("%s: error %v, want no error", name, err)
			}
		}
		if a.Package() == "" {
			t.Errorf("%s: no package carries its version", name)
		}
	}
	if _, err := repin(string(b), "nobody", "Version", "1", "2"); err == nil {
		t.Error("nobody has an entry?")
	}
}

// The catalogue says what was tried, and nothing else in it changes.
func TestTried(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "codex.yaml")
	const text = "# Proofs of the real 1.0.0\nname: codex\ntried: 1.0.0\nnotes:\n  - it was tried: once\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeTriedVersion(dir, "codex", "1.2.3"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil || string(b) != strings.Replace(text, "tried: 1.0.0", "tried: 1.2.3", 1) {
		t.Errorf(`b = %s, error %v; want no error and string(b) = strings.Replace(text, "tried: 1.0.0", "tried: `+
			`1.2.3", 1)`, b, err)
	}
	if err := writeTriedVersion(dir, "unknown", "1"); err != nil {
		t.Errorf("an agent beyond the catalogue: %v", err)
	}
	if err := os.WriteFile(file, []byte("name: codex\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeTriedVersion(dir, "codex", "1"); err == nil {
		t.Error("no place for the version, and nobody says so")
	}
	for _, a := range agent.Builtin().Agents() { // the real files have one
		b, err := os.ReadFile(filepath.Join("../../../agent/data", a.Name+".yaml"))
		if err != nil || len(triedLine.FindAll(b, -1)) > 1 {
			t.Errorf("%s: error %v, want no error and len(triedLine.FindAll(b, -1)) at most 1", a.Name, err)
		}
	}
}
