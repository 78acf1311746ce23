package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/agent"
)

// asJSON returns a YAML text as an editor's language server sees it.
func asJSON(t *testing.T, text []byte) string {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every description that comes with hookmux fits the schema.
func TestAgentSchemaTakesTheCatalogue(t *testing.T) {
	s := compiled(t, "agent")
	files, err := filepath.Glob("../../../agent/data/*.yaml")
	if err != nil || len(files) < len(agent.Builtin().Agents()) {
		t.Fatalf("%d files, %v; want at least %d", len(files), err, len(agent.Builtin().Agents()))
	}
	for _, file := range files {
		if filepath.Base(file) == "generic.yaml" {
			continue // no agent, and of a dialect of its own
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t, s, asJSON(t, text)); err != nil {
			t.Errorf("%s: the schema says %v, want it taken", filepath.Base(file), err)
		}
	}
}

// The schema and hookmux say no to the same mistakes.
func TestAgentSchemaAgrees(t *testing.T) {
	s := compiled(t, "agent")
	const event = "name: mine\ndialect: claude\nevents:\n  - name: A\n    install: default\n"
	for text, want := range map[string]bool{
		"name: mine\ndialect: claude\n":                                                     true,
		"name: Mine\ndialect: claude\n":                                                     false,
		"name: mine\ndialect: klingon\n":                                                    false,
		"name: mine\ndialect: claude\nevnts: []\n":                                          false,
		event + "    kind: other\n":                                                         true,
		event + "    kind: nope\n":                                                          false,
		event + "    kind: other\n    timeout: 1.5s\n":                                      true,
		event + "    kind: other\n    timeout: soon\n":                                      false,
		event + "    kind: other\n    unknown: 1\n":                                         false,
		"name: mine\ndialect: claude\ntried: 1.0\n":                                         true,
		"name: mine\ndialect: claude\nmarks: {prog: x}\n":                                   false,
		event + "    kind: other\n    answer: tool\n    carries: {deny: \"own: saw it\"}\n": true,
		event + "    kind: other\n    answer: tool\n    carries: {deny: trust me}\n":        false,
		event + "    kind: other\n    answer: tool\n    carries: {deny: {proof: \"documented: page\", needs_allow: true}}\n": true,
	} {
		err := check(t, s, asJSON(t, []byte(text)))
		if (err == nil) != want {
			t.Errorf("the schema says %v to\n%s\nwant taken: %t", err, text, want)
		}
		_, problems := agent.LoadFiles([]agent.File{{Name: "mine.yaml", Data: []byte(text)}})
		if (len(problems) == 0) != want {
			t.Errorf("hookmux says %v to\n%s\nwant taken: %t", problems, text, want)
		}
	}
}
