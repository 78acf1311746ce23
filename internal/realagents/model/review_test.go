package model

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// What the scenario's reviewer says reaches the agent: as the whole answer of a review
// that is a request of its own, beside the calls where the agent asks for it there.
func TestReviewerAnswers(t *testing.T) {
	s := start(t, Options{})
	review := func(action string) string {
		if strings.Contains(action, "bad") {
			return "too bad"
		}
		return ""
	}
	s.SetScenario("r", Scenario{Review: review, Steps: []Step{{Calls: []ToolCall{
		Call("shell", obj{"command": "good"}), Call("shell", obj{"command": "bad"})}}}})
	said := func(path string, body obj) string {
		resp := post(t, s.URL("r")+path, body)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	part := func(text string) obj { return obj{"type": "input_text", "text": text} }
	for command, want := range map[string]string{"good": `{"outcome":"allow"}`,
		"bad": `{"outcome":"deny","rationale":"too bad","risk_level":"high"}`} {
		// An earlier review of the same conversation does not count.
		got := said("/responses", obj{"text": obj{"format": obj{"type": "json_schema", "schema": obj{}}}, "input": []obj{
			{"role": "user", "content": []obj{part(reviewBegins + "\n"), part(`{"command":"bad"}`)}},
			{"role": "user", "content": []obj{part(reviewBegins + "\n"), part(`{"command":"` + command + `"}`)}}}})
		var v obj
		if err := json.Unmarshal([]byte(got), &v); err != nil || wholeResponses(v).text != want {
			t.Errorf("%s: the answer is %s (%v), want %s", command, got, err, want)
		}
	}
	messages := obj{"stream": true, "tools": []obj{{"name": "shell"}},
		"messages": []obj{{"role": "user", "content": Mark("")}}}
	if got := said("/v1/messages", messages); strings.Contains(got, "safeguard_results") {
		t.Errorf("the answer has verdicts that nobody asked for: %s", got)
	}
	messages["safeguards"] = []obj{{"type": "dangerous_tool_use"}}
	got := said("/v1/messages", messages)
	for _, want := range []string{`x0":{"outcome":"not_flagged","type":"evaluated"}`,
		`x1":{"explanation":"too bad","outcome":"flagged","type":"evaluated"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer is\n%s\nwant %s in it", got, want)
		}
	}
}
