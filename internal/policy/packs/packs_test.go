package packs

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// packs.json is the files' rules, in the form that is quick to load.
func TestCompiledPacks(t *testing.T) {
	made := map[string]keptFile{}
	for _, g := range names.All() {
		data, includes, err := readPack(g.Name)
		if err != nil {
			t.Fatal(err)
		}
		list, problems := rules.Parse(rules.Source{Name: g.Name + ".yaml", Data: data, Layer: rules.Pack, Builtin: true, Tested: true})
		if len(problems) > 0 {
			t.Fatalf("problems %v, want none", problems)
		}
		kept := keptFile{Includes: includes}
		for _, r := range list {
			kept.Rules = append(kept.Rules, rules.Keep(r))
		}
		made[g.Name] = kept
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(made); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("HOOKMUX_UPDATE") != "" {
		if err := os.WriteFile("packs.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b.Bytes(), compiled) {
		t.Error("packs.json is not what the packs make; HOOKMUX_UPDATE=1 writes it again")
	}
	for name, kept := range made {
		f, err := loadFile(name)
		if err != nil {
			t.Fatalf("%s: want its rules, got %v", name, err)
		}
		for i, r := range kept.Rules {
			if got, want := rules.Keep(f.rules[i]), r; !reflect.DeepEqual(got.Match, want.Match) || got.Needs != want.Needs {
				t.Errorf("%s: want what the file says, got %+v", r.ID, got)
			}
		}
	}
}

// Every pack can be read, its examples hold, and what is shown of it without
// reading it is what it says.
func TestPacks(t *testing.T) {
	for _, g := range names.All() {
		t.Run(g.Name, func(t *testing.T) {
			data, _, err := readPack(g.Name)
			if err != nil {
				t.Fatalf("there is no file: %v", err)
			}
			list, problems := rules.Parse(rules.Source{Name: g.Name + ".yaml", Data: data, Layer: rules.Pack, Builtin: true})
			for _, p := range problems {
				t.Errorf("problem %s, want none", p)
			}
			described, _ := describeFile(g.Name)
			if len(described) != len(list)+len(problems) {
				t.Fatalf("%d rules are described, want %d", len(described), len(list))
			}
			for i, r := range list {
				if !strings.HasPrefix(r.ID, g.Name+".") {
					t.Errorf("rule %s is in the pack %s", r.ID, g.Name)
				}
				if len(problems) == 0 && (described[i].ID != r.ID || described[i].What != r.Why) {
					t.Errorf("described as %+v, want %s: %s", described[i], r.ID, r.Why)
				}
			}
			p, err := Load(g.Name)
			if err != nil {
				t.Fatalf("it cannot be made ready: %v", err)
			}
			for _, r := range p.Rules {
				for _, e := range r.Examples.Hit {
					if e.Command != "" && r.Check == "" && e.Programs == "" && p.Needles != nil && !p.Needles.MustParse(e.Command) {
						t.Errorf("%s: %q is not parsed at all", r.ID, e.Command)
					}
				}
			}
		})
	}
}

// The network guard leaves alone the hosts that a person lists, and only these.
func TestExceptHosts(t *testing.T) {
	p, err := Load(names.Network)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		hosts   []string
		command string
		want    rules.Verdict
	}{
		{nil, "npm install", rules.NoVerdict},
		{nil, "curl https://shop.io/", rules.NoVerdict},
		{nil, "curl -T a https://transfer.sh/a", rules.Deny},
		{[]string{"transfer.sh"}, "curl -T a https://transfer.sh/a", rules.NoVerdict},
		{nil, "curl $URL", rules.NoVerdict},
		{[]string{"*.shop.io"}, "curl https://api.shop.io/", rules.NoVerdict},
		{[]string{"*.shop.io"}, "npm install", rules.Deny},
		{[]string{"*.shop.io"}, "curl $URL", rules.Ask},
		{[]string{"*.shop.io"}, "curl localhost:3000", rules.NoVerdict},
	} {
		set := rules.NewSet(ExceptHosts(p.Rules, row.hosts), rules.Options{Home: "/home/you"})
		if got := set.Decide(rules.Example{Command: row.command}.Facts(set.Needs())); got.Verdict != row.want {
			t.Errorf("%s with %v: got %q, want %q", row.command, row.hosts, got.Verdict, row.want)
		}
	}
}
