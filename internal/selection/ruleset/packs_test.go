package ruleset

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/policy/packstore"
)

// Whoever takes the list of packs or a copy away takes no rule out of force.
func TestPacksThatSomethingTookAwayCountOn(t *testing.T) {
	for name, damage := range map[string]func(state string) error{
		"list":   func(state string) error { return os.Remove(filepath.Join(state, "packs", "packs.json")) },
		"folder": func(state string) error { return os.RemoveAll(filepath.Join(state, "packs")) },
		"forged": func(state string) error {
			return os.WriteFile(filepath.Join(state, "packs", "packs.json"), []byte("{}"), 0o600)
		},
		"copy": func(state string) error {
			if err := os.RemoveAll(filepath.Join(state, "packs", "team")); err != nil {
				return err
			}
			return os.Chtimes(filepath.Join(state, "packs", "packs.json"), time.Now(), time.Now().Add(time.Hour))
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			store := packstore.New(state)
			pack, err := packstore.NewPack([]packstore.File{
				{Path: "pack.yaml", Data: []byte("name: team\nversion: 1.0.0\nwhat: ours\n")},
				{Path: "rules/a.yaml", Data: []byte("version: 1\nrules: [{id: a, why: w, match: {program: git}, " +
					"decide: deny, examples: {hit: [git push]}}]\n")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.Add(pack, packstore.Origin{}, "", time.Now()); err != nil {
				t.Fatal(err)
			}
			loader := New(Options{System: t.TempDir(), User: t.TempDir(), Packs: store})
			if got := loader.Base(); len(got.Rules) != 1 {
				t.Fatalf("before: %d rules, problems %v", len(got.Rules), got.Problems)
			}
			if err := damage(state); err != nil {
				t.Fatal(err)
			}
			if got := loader.Base(); len(got.Rules) != 1 || len(got.Problems) == 0 {
				t.Errorf("after: %d rules, problems %v; want the rule and a problem", len(got.Rules), got.Problems)
			}
			// The next hub has nothing in memory, and says so where it can know.
			next := New(Options{System: t.TempDir(), User: t.TempDir(), Packs: store}).Base()
			if name != "folder" && len(next.Problems) == 0 {
				t.Error("the next hub says nothing")
			}
		})
	}
}
