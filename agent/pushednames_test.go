package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

// Programs push calls under names that the agent itself does not use, or that hookmux
// does not install. They are read as the calls that they are, and a refusal is said.
func TestPushedCallsAreReadUnderEveryName(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.Agents() {
		if a.Guest {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			ev := c.Decode(Input{ID: "1", Time: time.Now(), Agent: a.Name, Event: "PreToolUse", Payload: []byte(
				`{"session_id":"s1","hook_event_name":"PreToolUse","cwd":"/x","tool_name":"Bash","tool_input":{"command":"rm -rf ~/"}}`)})
			if _, own := a.Event("PreToolUse"); own {
				t.Skip("has it itself")
			}
			if ev.Agent != a.Name || ev.Kind != event.ToolBefore || ev.Tool == nil || len(ev.Tool.Commands) != 1 ||
				ev.Session != "s1" {
				t.Errorf("read as %s of %s, %+v; want its call of one command", ev.Kind, ev.Agent, ev.Tool)
			}
			if !c.KnowsEvent(a.Name, "PreToolUse") {
				t.Error("it is said that nobody looks at it")
			}
			answer, _ := c.Encode(&ev, event.Decision{Verdict: event.Deny, Reason: "no"})
			if answer.Exit != 2 || !strings.Contains(answer.Stderr, "no") {
				t.Errorf("a refusal is answered with %+v, want exit code 2 and the reason", answer)
			}
		})
	}
	for _, one := range []struct{ agent, event, payload, command, reads string }{
		{"cursor", "beforeShellExecution",
			`{"conversation_id":"c1","hook_event_name":"beforeShellExecution","command":"rm -rf ~/","cwd":"/x"}`, "rm -rf ~/", ""},
		{"cursor", "beforeShellExecution",
			`{"conversation_id":"c1","hook_event_name":"beforeShellExecution","tool_name":"Shell","tool_input":{"command":"rm -rf ~/"}}`,
			"rm -rf ~/", ""},
		{"cursor", "beforeMCPExecution",
			`{"conversation_id":"c1","hook_event_name":"beforeMCPExecution","tool_name":"run","tool_input":"{\"command\":\"rm -rf ~/\"}"}`,
			"rm -rf ~/", ""},
		{"cursor", "beforeReadFile",
			`{"conversation_id":"c1","hook_event_name":"beforeReadFile","file_path":"/h/.ssh/id_rsa","content":"x"}`, "", "/h/.ssh/id_rsa"},
		{"goose", "BeforeShellExecution",
			`{"session_id":"c1","event":"BeforeShellExecution","tool_name":"shell","tool_input":{"command":"rm -rf ~/"}}`, "rm -rf ~/", ""},
	} {
		ev := c.Decode(Input{ID: "1", Time: time.Now(), Agent: one.agent, Event: one.event, Payload: []byte(one.payload)})
		if ev.Kind != event.ToolBefore || ev.Tool == nil || strings.Join(ev.Tool.Commands, "") != one.command ||
			strings.Join(ev.Tool.Reads, "") != one.reads {
			t.Errorf("%s of %s: read as %s, %+v; want command %q, reads %q", one.event, one.agent, ev.Kind, ev.Tool,
				one.command, one.reads)
		}
		if answer, _ := c.Encode(&ev, event.Decision{Verdict: event.Deny, Reason: "no"}); one.agent == "cursor" &&
			!strings.Contains(answer.Stdout, `"permission":"deny"`) {
			t.Errorf("%s: a refusal is answered with %+v", one.event, answer)
		}
	}
}
