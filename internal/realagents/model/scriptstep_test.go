package model

import (
	"errors"
	"strings"
	"testing"
)

// Everything in the vocabulary reaches an agent as a call of its own tools.
func TestScriptStepsBecomeSteps(t *testing.T) {
	v := Vocabulary{
		Run:      func(c string) ToolCall { return Call("sh", map[string]any{"c": c}) },
		Question: func(q Question) ToolCall { return Call("ask", map[string]any{"q": q.Text, "o": q.Options}) },
		Plan:     func(p string) ToolCall { return Call("plan", map[string]any{"p": p}) },
		Subagent: func(p string) []Step {
			return []Step{{Calls: []ToolCall{Call("task", map[string]any{"p": p})}}, {Say: "waited"}}
		},
		MCP: func(m MCP) ToolCall { return Call(m.Server+"_"+m.Tool, m.Input) },
	}
	other := Call("other", map[string]any{})
	script := []ScriptStep{
		{Run: []string{"one", "two"}, Say: "Both."}, {Question: &Question{Text: "Which?", Options: []string{"a", "b"}}}, {Plan: "first this"},
		{Subagent: "sub"}, {MCP: &MCP{Server: "lab", Tool: "echo", Input: map[string]any{"text": "x"}}}, {Call: &other}, {Fail: &Fail{Status: 400}}, {Say: "Over."},
	}
	steps, err := v.Steps(script)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		var names []string
		for _, c := range s.Calls {
			names = append(names, c.Name+string(c.Input))
		}
		got = append(got, s.Say+strings.Join(names, "+"))
	}
	want := `Both.sh{"c":"one"}+sh{"c":"two"}|ask{"o":["a","b"],"q":"Which?"}|plan{"p":"first this"}|task{"p":"Help with it [[play:sub]]"}|waited|lab_echo{"text":"x"}|other{}||Over.`
	if strings.Join(got, "|") != want {
		t.Errorf(`strings.Join(got, "|") = %s, want %q`, strings.Join(got, "|"), want)
	}
	for _, b := range []ScriptStep{script[0], script[1], script[2], script[3], script[4]} {
		if _, err := (Vocabulary{}).Steps([]ScriptStep{b}); !errors.Is(err, ErrNoWord) {
			t.Errorf("error %v, want error ErrNoWord", err)
		}
	}
	if _, err := v.Steps([]ScriptStep{{}}); err == nil {
		t.Error("a beat that does nothing")
	}
}
