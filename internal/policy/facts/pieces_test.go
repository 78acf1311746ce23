package facts

import (
	"slices"
	"testing"
)

// An input may name a file in pieces, as an address, or in a member that nobody knows.
func TestPathsInPieces(t *testing.T) {
	for _, tt := range []struct{ tool, input, want string }{
		{"write_file", `{"dir":"/home/dev/.claude","name":"settings.json","content":"{}"}`, "/home/dev/.claude/settings.json"},
		{"write_file", `{"base":"/home/dev","relative":".claude/settings.json"}`, "/home/dev/.claude/settings.json"},
		{"write_file", `{"root":"/home/dev","paths":["a",".claude/settings.json"]}`, "/home/dev/.claude/settings.json"},
		{"write_file", `{"root":"~","dir":".claude","file":"settings.json"}`, "~/.claude/settings.json"},
		{"edit", `{"folder":"/home/dev","changes":[{"file":".claude/settings.json","text":"{}"}]}`, "/home/dev/.claude/settings.json"},
		{"edit", `{"workspace":{"root":"/home/dev/.claude","edits":[{"path":"settings.json"}]}}`, "/home/dev/.claude/settings.json"},
		{"edit", `{"path":"/home/dev/.claude","filename":"settings.json"}`, "/home/dev/.claude/settings.json"},
		{"edit", `{"uri":"file:///home/dev/.claude/settings.json"}`, "/home/dev/.claude/settings.json"},
		{"edit", `{"uri":"file://localhost/home/dev/%2eclaude/settings%2Ejson"}`, "/home/dev/.claude/settings.json"},
		{"edit", `{"uri":"FILE:/home/dev/.claude/settings.json"}`, "/home/dev/.claude/settings.json"},
		{"edit", `{"where":".claude/settings.json","what":"{}"}`, ".claude/settings.json"},
		{"edit", `{"changes":[{"file":".claude/settings.json"}]}`, ".claude/settings.json"},
		{"move", `{"from":{"dir":"/home/dev/.claude","name":"settings.json"},"to":"x"}`, "/home/dev/.claude/settings.json"},
	} {
		call := Call{ToolKind: "mcp", ToolName: tt.tool, Input: []byte(tt.input)}
		if got := ReadInput(&call); !slices.Contains(got.Writes, tt.want) {
			t.Errorf("%s %s: writes %q, want %s among them", tt.tool, tt.input, got.Writes, tt.want)
		}
	}
	call := Call{ToolKind: "mcp", ToolName: "write_file", Writes: []string{"settings.json"},
		Input: []byte(`{"path":"settings.json","dir":"/home/dev/.claude"}`)}
	if got := ReadInput(&call); !slices.Contains(got.Writes, "/home/dev/.claude/settings.json") {
		t.Errorf("where the dialect named the path: writes %q, want it below the folder as well", got.Writes)
	}
	read := Call{ToolKind: "mcp", ToolName: "read_file", Input: []byte(`{"dir":"/home/dev/.ssh","name":"id_rsa"}`)}
	if got := ReadInput(&read); !slices.Contains(got.Reads, "/home/dev/.ssh/id_rsa") || len(got.Writes) > 0 {
		t.Errorf("a tool that reads: reads %q, writes %q; want the key among what it reads", got.Reads, got.Writes)
	}
}

// Lines of a notebook's cell that are no Python, and text for a program that runs, are read as what they do.
func TestCommandsOfCells(t *testing.T) {
	for _, tt := range []struct{ tool, input, want string }{
		{"mcp__ide__executeCode", `{"code":"!hookmux off"}`, "hookmux off"},
		{"mcp__ide__executeCode", `{"code":"import os\nx = !hookmux off\nprint(x)"}`, "hookmux off"},
		{"mcp__ide__executeCode", `{"code":"%sx hookmux off"}`, "hookmux off"},
		{"mcp__ide__executeCode", `{"code":"%%writefile /home/dev/.claude/settings.json\n{}"}`, "tee /home/dev/.claude/settings.json"},
		{"mcp__ide__executeCode", `{"code":"%cd ~/.claude\nopen('s','w')"}`,
			"cd ~/.claude\npython3 -c '%cd ~/.claude\nopen('\\''s'\\'','\\''w'\\'')'"},
		{"REPL", `{"code":"await bash('hookmux off')"}`, "hookmux off"},
		{"mcp__desktop-commander__interact_with_process", `{"pid":1,"input":"hookmux off"}`, "hookmux off"},
	} {
		call := Call{ToolKind: "mcp", ToolName: tt.tool, Input: []byte(tt.input)}
		if ReadInput(&call); !slices.Contains(call.Commands, tt.want) {
			t.Errorf("%s %s: commands %q, want %q among them", tt.tool, tt.input, call.Commands, tt.want)
		}
	}
}
