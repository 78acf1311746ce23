package programs

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/platform/embedjson"
)

func readYAML(t *testing.T) file {
	t.Helper()
	data, err := os.ReadFile("programs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		t.Fatalf("programs.yaml: %v", err)
	}
	return f
}

// programs.json is programs.yaml, in the form that is quick to load.
func TestCompiledTable(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(readYAML(t)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("HOOKMUX_UPDATE") != "" {
		if err := os.WriteFile("programs.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != compiled {
		t.Error("programs.json is not what programs.yaml makes; HOOKMUX_UPDATE=1 writes it again")
	}
}

func TestEveryProgramOnce(t *testing.T) {
	seen := map[string]bool{}
	first := ""
	for _, p := range readYAML(t).Programs {
		if err := p.prepare(); err != nil {
			t.Error(err)
		}
		names := strings.Fields(p.Names)
		for _, name := range names {
			if seen[name] {
				t.Errorf("%s is in programs.yaml twice", name)
			}
			if name != strings.ToLower(name) && !slices.Contains([]string{"sendEmail"}, name) {
				t.Errorf("%s: names are looked up in lower case", name)
			}
			seen[name] = true
		}
		if names[0] < first {
			t.Errorf("%s comes after %s; entries are sorted by their first name", names[0], first)
		}
		first = names[0]
	}
}

// Every entry must be able to do something.
func TestEntriesAreSound(t *testing.T) {
	for _, name := range With(func(*Program) bool { return true }) {
		p := Of(name)
		if l := p.Starts; l != nil && len(l.Rest)+len(l.Text)+len(l.Types)+len(l.Literals) == 0 && !l.Operands {
			t.Errorf("%s starts nothing", name)
		}
		if p.Starts != nil && p.Runs != nil {
			t.Errorf("%s runs and starts a command; it can only do one", name)
		}
		for _, o := range p.RunsOptions {
			if !strings.HasPrefix(o, "-") {
				t.Errorf("%s: %q is no option", name, o)
			}
		}
	}
	for name := range traitNames {
		if len(With(func(p *Program) bool { return slices.Contains(strings.Fields(p.Is), name) })) == 0 {
			t.Errorf("no program has the trait %s", name)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		var f file
		if err := embedjson.Unmarshal(compiled, &f); err != nil {
			b.Fatal(err)
		}
	}
}
