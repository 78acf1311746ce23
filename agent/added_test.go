package agent

import (
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// Adding an agent that speaks as another does is one file and its fixtures: with
// them it is read, answered and recognised. Tests of internal/install and
// lab/gen/agentdocs add the same file.
func TestOneFileAddsAnAgent(t *testing.T) {
	data, err := os.ReadFile("testdata/added/shaped.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := File{Name: "shaped.yaml", Data: data}
	if seen := Builtin().Inspect(file); !seen.Adds || len(seen.Problems)+len(seen.Warnings) > 0 {
		t.Errorf("inspection %+v, want a new agent, no problem and no warning", seen)
	}
	c, problems := LoadFiles([]File{file})
	if len(problems) > 0 {
		t.Fatalf("problems %v, want none", problems)
	}
	a, ok := c.Agent("shaped")
	if !ok {
		t.Fatal("shaped is not in the catalogue, want it there")
	}
	seen := map[string]bool{}
	for _, f := range fixturesOf(t, a, "testdata/added/fixtures") {
		accountForFixture(t, c, f)
		seen[f.event] = true
		ev := c.Decode(Input{Agent: "shaped", Event: f.event, Payload: f.payload})
		if ev.Session != "c1" || ev.Cwd != "/project" || ev.Kind != a.KindOf(f.event) || ev.Malformed != "" {
			t.Errorf("%s is read as %+v, want session c1 in /project", f.file, ev)
		}
		if ev.Kind != event.ToolBefore {
			continue
		}
		if len(ev.Tool.Commands)+len(ev.Tool.Writes) == 0 {
			t.Errorf("%s: tool %+v, want a command or a file for guards to see", f.file, ev.Tool)
		}
		answer, _ := c.Encode(&ev, event.Decision{Verdict: event.Deny, Reason: "not here"})
		if !strings.Contains(answer.Stdout, `"deny"`) || !strings.Contains(answer.Stdout, "not here") {
			t.Errorf("%s: refusal %+v, want deny and the reason", f.file, answer)
		}
	}
	for _, e := range a.Events {
		if !seen[e.Name] {
			t.Errorf("event %s has no fixture, want one", e.Name)
		}
	}
	if got, ok := c.ByProgram("shaped"); !ok || got != a {
		t.Errorf("a process of that name is %v, want shaped", got)
	}
	if got, _, ok := c.BelowAgent(func(name string) string {
		return map[string]string{"SHAPED_SESSION": "1"}[name]
	}); !ok || got != a {
		t.Errorf("what carries its variable is below %v, want shaped", got)
	}
	if id := a.Resume.SessionIn("shaped --resume c1"); id != "c1" {
		t.Errorf("session in its command line = %q, want c1", id)
	}
}
