package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/guard"
)

// On every agent a guard sees a command in a tool that nobody described, and in
// those that run commands, in whatever member and shape it comes.
func TestCommandsOfEveryAgent(t *testing.T) {
	const danger = "rm -rf /home/me"
	shapes := map[string]any{
		"command": danger, "cmd": danger, "script": danger, "command_line": danger, "CommandLine": danger,
		"shellCommand": danger, "bash": danger, "commands": []any{"ls", danger},
		"args": map[string]any{"command": danger}, "calls": []any{map[string]any{"command": []any{"rm", "-rf", "/home/me"}}},
		"input": `{"command":"` + danger + `"}`,
	}
	g := guard.NewDestructive(guard.Options{})
	catalogue := agent.Builtin()
	for _, a := range catalogue.Agents() {
		for _, e := range a.Events {
			if e.Kind != event.ToolBefore || e.Carries.Deny == nil || len(a.Fields.ToolName) == 0 || len(a.Fields.ToolInput) == 0 {
				continue
			}
			for _, tool := range []string{"tool_nobody_described", "mcp__server__tool"} {
				for key, value := range shapes {
					payload := map[string]any{}
					setMember(payload, a.Fields.ToolName[0], tool)
					setMember(payload, a.Fields.ToolInput[0], map[string]any{key: value, "path": "/tmp/x"})
					data, err := json.Marshal(payload)
					if err != nil {
						t.Fatal(err)
					}
					ev := catalogue.Decode(agent.Input{ID: "1", Agent: a.Name, Event: e.Name, Payload: data})
					if ev.Tool == nil {
						t.Errorf("%s %s: no tool was read of %s, want one", a.Name, e.Name, data)
						continue
					}
					if ev.Unreadable() != "" {
						continue // then a person is asked
					}
					found := g.Check(guard.Call{Agent: a.Name, ToolKind: string(ev.Tool.Kind), ToolName: ev.Tool.Name,
						Commands: ev.Tool.Commands, Reads: ev.Tool.Reads, Writes: ev.Tool.Writes, Input: ev.Tool.Input,
						Cwd: "/tmp", Project: "/tmp", Home: "/home/me"})
					if len(found) == 0 {
						t.Errorf("%s %s: nothing is said about %s, want a finding", a.Name, e.Name, data)
					}
				}
			}
		}
	}
}

// What no shell runs is read in the language that it is written in.
func TestCodeIsNoShell(t *testing.T) {
	input := map[string]any{"code": "import shutil\nshutil.rmtree('/home/me')"}
	for agentName, tool := range map[string]string{"hermes": "execute_code", "claude": "mcp__jupyter__run_cell"} {
		data, err := json.Marshal(map[string]any{"tool_name": tool, "tool_input": input})
		if err != nil {
			t.Fatal(err)
		}
		eventName := map[string]string{"hermes": "pre_tool_call", "claude": "PreToolUse"}[agentName]
		ev := agent.Builtin().Decode(agent.Input{ID: "1", Agent: agentName, Event: eventName, Payload: data})
		found := guard.NewDestructive(guard.Options{}).Check(guard.Call{ToolKind: string(ev.Tool.Kind),
			ToolName: ev.Tool.Name, Commands: ev.Tool.Commands, Input: ev.Tool.Input, Cwd: "/tmp", Home: "/home/me"})
		if len(found) == 0 {
			t.Errorf("%s: nothing is said about %s (commands %q), want a finding", agentName, data, ev.Tool.Commands)
		}
	}
}

// setMember sets a member by its path.
func setMember(into map[string]any, path string, value any) {
	first, rest, more := strings.Cut(path, ".")
	if !more {
		into[first] = value
		return
	}
	below, ok := into[first].(map[string]any)
	if !ok {
		below = map[string]any{}
		into[first] = below
	}
	setMember(below, rest, value)
}
