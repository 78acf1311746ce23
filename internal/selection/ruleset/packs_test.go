package ruleset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
			// The next daemon has nothing in memory, and says so where it can know.
			next := New(Options{System: t.TempDir(), User: t.TempDir(), Packs: store}).Base()
			if len(next.Problems) == 0 {
				t.Error("the next daemon says nothing, want a problem")
			}
			if known, err := packstore.New(state).List(); len(known) != 1 || err != nil {
				t.Errorf("%d packs are known, %v; want one, which a person may take in again", len(known), err)
			}
		})
	}
}

// No rule of a person has a name that a pack's rule could have; one that is called
// as a pack counts and is named.
func TestNamesOfPacksAndOfRulesStayApart(t *testing.T) {
	state, user := t.TempDir(), t.TempDir()
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
	text := "version: 1\nrules:\n"
	for _, id := range []string{"team/a", "team", "mine"} {
		text += "  - {id: " + id + ", why: w, match: {program: make}, decide: deny, examples: {hit: [make x]}}\n"
	}
	if err := os.MkdirAll(filepath.Join(user, FolderName), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(user, FolderName, "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := New(Options{System: t.TempDir(), User: user, Packs: store}).Base()
	var ids, problems []string
	for _, r := range got.Rules {
		ids = append(ids, r.ID)
	}
	for _, p := range got.Problems {
		problems = append(problems, p.String())
	}
	if want := []string{"team", "mine", "team/a"}; !slices.Equal(ids, want) {
		t.Errorf("rules %q, want %q", ids, want)
	}
	want := []string{
		file + `:3:6: rule team/a is not used: id "team/a": rules of packs are called PACK/RULE; write it without /, ` +
			`like team-a`,
		file + ":4:6: the rule team counts, but a pack has its name: who switches one switches both; give the rule " +
			"another id",
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
}
