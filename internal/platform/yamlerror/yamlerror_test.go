package yamlerror

import (
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestExplain(t *testing.T) {
	type inner struct {
		When string   `yaml:"when"`
		Day  int      `yaml:"day"`
		List []string `yaml:"list"`
		On   bool     `yaml:"on"`
	}
	for text, want := range map[string]string{
		"when: {a: b}":           `"when" must be text, not a block of keys`,
		"day: [1]":               `"day" must be a whole number, not a list`,
		"list: {a: b}":           `this must be a list, not a block of keys`,
		"on: [x]":                `"on" must be true or false, not a list`,
		"when: a\n\tday: 1":      "there's a tab; YAML is indented with spaces",
		"list: [a, b":            "the [ is never closed",
		"list: {a: b":            "the { is never closed",
		"when: 'a":               "a quote is never closed",
		"when: a: b":             "this is indented wrongly, or belongs in quotes",
		"list:\n  - a\n - b\n":   "this is indented wrongly, or belongs in quotes",
		"day: 1\n   on: true\n":  "this is indented wrongly, or belongs in quotes",
		"day: 1\nwhen: @x\n":     "",
		"- a\n- b\nwhen: {a: b}": "",
	} {
		var into inner
		err := yaml.Unmarshal([]byte(text), &into)
		if err == nil {
			t.Errorf("%q: want an error", text)
			continue
		}
		got := Explain(err)
		if want != "" && got.Text != want || got.Line == 0 {
			t.Errorf("%q: got line %d, %q; want %q (reader: %q)", text, got.Line, got.Text, want, strings.SplitN(err.Error(), "\n", 2)[0])
		}
		for _, raw := range []string{"unmarshal", "Go struct", "token", "\t"} {
			if strings.Contains(got.Text, raw) {
				t.Errorf("%q: got %q, which has %q in it", text, got.Text, raw)
			}
		}
	}
	if got := Explain(errors.New("first\nsecond")); got != (Problem{Text: "first"}) {
		t.Errorf("got %+v", got)
	}
}
