package claude

import (
	"encoding/json"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// ownArguments lists the check for each of Claude Code's tools.
var ownArguments = map[string]string{"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path",
	"MultiEdit": "file_path", "NotebookEdit": "notebook_path", "Glob": "pattern", "Grep": "pattern", "WebFetch": "url",
	"WebSearch": "query", "Skill": "skill", "Agent": "subagent_type", "Task": "subagent_type"}

// CallsOfTool translates a tool call of any agent into Claude Code's terms. A call that does
// several things becomes several calls; a tool that has no counterpart becomes one call under
// its own name, which only rules about all tools cover.
func CallsOfTool(tool *event.Tool) []Call {
	if tool == nil {
		return nil
	}
	var input map[string]any
	_ = json.Unmarshal(tool.CurrentInput(), &input) // input that isn't an object has no arguments
	if argument := ownArguments[tool.Name]; argument != "" {
		if _, given := input[argument].(string); given {
			return []Call{{tool.Name, input}}
		}
	}
	calls := callsOfKind(tool, input)
	if len(calls) == 0 {
		return []Call{{tool.Name, input}}
	}
	return calls
}

func callsOfKind(tool *event.Tool, input map[string]any) []Call {
	var calls []Call
	add := func(name, argument string, values []string) {
		for _, value := range values {
			calls = append(calls, Call{name, map[string]any{argument: value}})
		}
	}
	switch tool.Kind {
	case event.MCP:
		if tool.MCP != nil && tool.MCP.Server != "" {
			return []Call{{"mcp__" + tool.MCP.Server + "__" + tool.MCP.Tool, input}}
		}
		return nil
	case event.Fetch:
		if tool.URL == "" {
			return []Call{{"WebSearch", input}}
		}
		return []Call{{"WebFetch", map[string]any{"url": tool.URL}}}
	case event.Task:
		return []Call{{"Agent", map[string]any{"subagent_type": namedAgent(input)}}}
	case event.Search:
		name := "Grep"
		if facts.ListsNames(tool.Name) {
			name = "Glob"
		}
		if len(tool.Reads) == 0 {
			return []Call{{name, map[string]any{}}}
		}
		add(name, "path", tool.Reads)
		return calls
	case event.FileWrite:
		add("Write", "file_path", tool.Writes)
	case event.FileEdit:
		add("Edit", "file_path", tool.Writes)
	default:
		add("Edit", "file_path", tool.Writes)
	}
	add("Bash", "command", tool.Commands)
	add("Read", "file_path", tool.Reads)
	return calls
}

func namedAgent(input map[string]any) string {
	for _, key := range []string{"subagent_type", "agent", "agent_type", "subagent", "agent_name"} {
		if name, ok := input[key].(string); ok {
			return name
		}
	}
	return ""
}

// DecideAll decides about several calls that are one: the strictest wins, and it is
// allowed only if rules allow every one of them. Decide is Set.Decide or Set.DecideStrict.
func DecideAll(calls []Call, place Place, decide func(Call, Place) Decision) Decision {
	var out Decision
	for i, call := range calls {
		said := decide(call, place)
		if i == 0 || said.Verdict.rank() > out.Verdict.rank() {
			out = said
		}
	}
	return out
}
