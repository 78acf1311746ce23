package schema

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/policy/rules"
)

// The schema takes what hookmux takes, and refuses what it refuses.
func TestRulesSchema(t *testing.T) {
	s := compiled(t, "rules")
	starter, err := os.ReadFile("../../cli/rulescmd/starter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	one := func(more string) string {
		return "version: 1\nrules:\n  - {id: a, why: x, match: {program: rm}, decide: deny, examples: {hit: [rm x]}" + more + "}\n"
	}
	for name, text := range map[string]string{
		"starter": string(starter), "plain": one(""), "mode": one(", mode: log"), "no mode": one(", mode: loud"),
		"agents": one(", agents: claude"), "agents listed": one(", agents: [claude, '!codex']"), "unknown field": one(", whi: x"),
		"expires": one(", expires: 2030-01-31"), "never expires": one(", expires: soon"), "onUnknown": one(", onUnknown: ignore"),
		"perhaps": one(", onUnknown: perhaps"), "version": "version: 2\nrules: []\n", "no version": "rules: []\n",
		"unknown key": "version: 1\nrule: []\n", "usual": "version: 1\ndecide: ask\nrules: []\n",
		"access":     "version: 1\nrules:\n  - {id: a, why: x, match: {path: x, access: change}, decide: deny, examples: {hit: [rm x]}}\n",
		"no access":  "version: 1\nrules:\n  - {id: a, why: x, match: {path: x, access: chmod}, decide: deny, examples: {hit: [rm x]}}\n",
		"no verdict": "version: 1\nrules:\n  - {id: a, why: x, match: {program: rm}, decide: block, examples: {hit: [rm x]}}\n",
		"bad id":     "version: 1\nrules:\n  - {id: A B, why: x, match: {program: rm}, decide: deny, examples: {hit: [rm x]}}\n",
		"an example": "version: 1\nrules:\n  - {id: a, why: x, match: {path: x}, decide: deny, examples: {hit: [{write: x}]}}\n",
	} {
		_, problems := rules.Parse(rules.Source{Name: "rules.yaml", Data: []byte(text), Layer: rules.User})
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t, s, string(data)); (err == nil) != (len(problems) == 0) {
			t.Errorf("%s: hookmux says %v, the schema %v", name, problems, err)
		}
	}
}
