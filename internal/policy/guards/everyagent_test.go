package guards

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
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
	g := NewDestructive(Options{})
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
					found := g.Check(Call{Agent: a.Name, ToolKind: string(ev.Tool.Kind), ToolName: ev.Tool.Name,
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
		found := NewDestructive(Options{}).Check(Call{ToolKind: string(ev.Tool.Kind),
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

// The folder that a call names is where its command runs, on every agent whose tools
// take one, and for tools that nobody described.
func TestFolderOfTheCall(t *testing.T) {
	set := NewGuard("", Options{})
	catalogue := agent.Builtin()
	check := func(a *agent.Agent, e *agent.EventSpec, tool string, input map[string]any, want string) {
		t.Helper()
		payload := map[string]any{}
		setMember(payload, a.Fields.ToolName[0], tool)
		setMember(payload, a.Fields.ToolInput[0], input)
		data, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		ev := catalogue.Decode(agent.Input{ID: "1", Agent: a.Name, Event: e.Name, Payload: data, Cwd: "/home/me/app"})
		if want == "unreadable" {
			if ev.Unreadable() == "" {
				t.Errorf("%s %s: %s is read, want it to be unreadable", a.Name, e.Name, data)
			}
			return
		}
		found := set.CheckEvent(&ev, "/home/me/app", "/home/me")
		if len(found) == 0 && want != "" || len(found) > 0 && (want == "" || found[0].Rule != want) {
			t.Errorf("%s %s: %s: got %v, want %q", a.Name, e.Name, data, found, want)
		}
	}
	named := 0
	for _, a := range catalogue.Agents() {
		if len(a.Fields.Cwd) > 0 && len(a.Fields.ToolInput) > 0 && a.Fields.Cwd[0] == a.Fields.ToolInput[0]+".cwd" {
			continue // what the call names is where the event happens
		}
		for _, e := range a.Events {
			if e.Kind != event.ToolBefore || e.Carries.Deny == nil || len(a.Fields.ToolName) == 0 || len(a.Fields.ToolInput) == 0 {
				continue
			}
			tools := map[string][]string{"tool_nobody_described": {"cwd", "workdir", "directory", "dir_path", "working_dir"}}
			for _, spec := range a.Tools {
				if len(spec.Folder) > 0 {
					tools[spec.Name] = spec.Folder
				}
			}
			for tool, keys := range tools {
				command := "command"
				if spec := a.Tool(tool); len(spec.Commands) > 0 {
					command = spec.Commands[0]
				}
				if strings.Contains(command, "[") {
					command = "cmd"
				}
				for _, key := range keys {
					named++
					for _, row := range []struct{ command, folder, want string }{
						{"rm -rf me", "/home", "destructive.rm-broad"},
						{"rm -rf me", "../..", "destructive.rm-broad"},
						{"rm -rf dist", "/home/me/app/web", ""},
						{"rm -rf dist", "web", ""},
						{"echo {} > settings.json", "/home/me/.claude", "own-files.write"},
						{"echo {} > settings.json", "~/.claude", "own-files.write"},
						{"echo {} > config.json", "/home/me/.config/hookmux", "own-files.write"},
						{"cat work", "/home/me/.ssh", "secrets.read"},
						{"cat README.md", "/home/me/app/docs", ""},
					} {
						check(a, e, tool, map[string]any{command: row.command, key: row.folder}, row.want)
					}
					check(a, e, tool, map[string]any{command: "ls", key: map[string]any{"a": 1}}, "unreadable")
				}
				if len(keys) > 1 {
					check(a, e, tool, map[string]any{command: "ls", keys[0]: "/a", keys[1]: "/b"}, "unreadable")
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("%d members name a folder, want at least 100", named)
	}
}

// Tools of MCP servers, and text that is typed into terminals, are read whatever shape
// they come in.
func TestShapesOfOtherTools(t *testing.T) {
	set := NewGuard("", Options{})
	rows := 0
	check := func(agentName, eventName, tool, input, want string) {
		t.Helper()
		rows++
		payload := `{"tool_name":"` + tool + `","tool_input":` + input + `}`
		ev := agent.Builtin().Decode(agent.Input{ID: "1", Agent: agentName, Event: eventName, Payload: []byte(payload), Cwd: "/home/me/app"})
		found := set.CheckEvent(&ev, "/home/me/app", "/home/me")
		hit := ""
		for _, f := range found {
			if f.Rule == want {
				hit = want
			}
		}
		if want == "" && len(found) > 0 || hit != want {
			t.Errorf("%s %s: got %v, want %q", agentName, payload, found, want)
		}
	}
	for _, key := range []string{"path", "file_path", "filePath", "file", "filename", "uri", "source"} {
		for _, tool := range []string{"mcp__fs__read_file", "mcp__fs__get_file_contents", "mcp__x__open", "mcp__docs__cat"} {
			check("claude", "PreToolUse", tool, `{"`+key+`":"/home/me/.ssh/id_rsa"}`, "secrets.file")
			check("claude", "PreToolUse", tool, `{"`+key+`":"src/main.go"}`, "")
		}
		check("codex", "PreToolUse", "mcp__fs__read_file", `{"`+key+`":"~/.aws/credentials"}`, "secrets.file")
	}
	check("claude", "PreToolUse", "mcp__fs__read_multiple_files", `{"paths":["a.go","/home/me/.ssh/id_rsa"]}`, "secrets.file")
	check("claude", "PreToolUse", "mcp__fs__write_file", `{"path":"/home/me/.claude/settings.json","content":"{}"}`, "own-files.write")
	for _, program := range []string{"program", "executable", "command", "cmd", "binary"} {
		for _, args := range []string{"args", "arguments", "argv", "params"} {
			check("claude", "PreToolUse", "mcp__x__spawn", `{"`+program+`":"rm","`+args+`":["-rf","/home/me"]}`, "destructive.rm-broad")
			check("claude", "PreToolUse", "mcp__x__spawn", `{"`+program+`":"hookmux","`+args+`":["off"]}`, "own-files.control")
			check("claude", "PreToolUse", "mcp__x__spawn", `{"`+program+`":"ls","`+args+`":["-l","src"]}`, "")
		}
		check("claude", "PreToolUse", "mcp__x__job", `{"steps":[{"name":"a","`+program+`":"rm -rf /home/me"}]}`, "destructive.rm-broad")
	}
	check("claude", "PreToolUse", "mcp__ci__pipeline", `{"steps":[{"run":"ls"},{"run":"rm -rf ~/"}]}`, "destructive.rm-broad")
	check("claude", "PreToolUse", "mcp__ci__pipeline", `{"jobs":{"a":{"steps":[{"run":"cat ~/.ssh/id_rsa"}]}}}`, "secrets.read")
	check("claude", "PreToolUse", "mcp__ci__pipeline", `{"steps":[{"run":"npm test"}]}`, "")
	for _, tool := range []string{"mcp__iterm__send_text", "mcp__tmux__send_keys", "mcp__term__send-keys", "mcp__x__terminal_write",
		"mcp__pty__send_input", "mcp__kitty__type_text"} {
		for _, key := range []string{"text", "keys", "input", "data", "chars"} {
			check("claude", "PreToolUse", tool, `{"pane":"1","`+key+`":"hookmux off\n"}`, "own-files.control")
			check("claude", "PreToolUse", tool, `{"pane":"1","`+key+`":"rm -rf ~/\r"}`, "destructive.rm-broad")
			check("claude", "PreToolUse", tool, `{"pane":"1","`+key+`":"npm test\n"}`, "")
		}
	}
	check("claude", "PreToolUse", "mcp__tmux__send_keys", `{"keys":["hookmux","Space","off","Enter"]}`, "own-files.control")
	check("claude", "PreToolUse", "mcp__tmux__send_keys", `{"keys":["rm -rf ~","Enter"]}`, "destructive.rm-broad")
	for _, tool := range []string{"write_stdin", "unified_exec"} {
		key := map[string]string{"write_stdin": "chars", "unified_exec": "input"}[tool]
		check("codex", "PreToolUse", tool, `{"session_id":1,"`+key+`":"rm -rf ~/\n"}`, "destructive.rm-broad")
		check("codex", "PreToolUse", tool, `{"session_id":1,"`+key+`":"hookmux off\n"}`, "own-files.control")
		check("codex", "PreToolUse", tool, `{"session_id":1,"`+key+`":"y\n"}`, "")
	}
	// A path is one whatever its member is called; a shell runs what it's given.
	check("cursor", "preToolUse", "Write", `{"target_file":"/home/me/.claude/settings.json","contents":"{}"}`, "own-files.write")
	check("cursor", "preToolUse", "Read", `{"targetFile":"/home/me/.ssh/id_rsa"}`, "secrets.file")
	check("claude", "PreToolUse", "mcp__fs__copy", `{"from":"/tmp/x","to":"/home/me/.claude/settings.json"}`, "own-files.write")
	check("claude", "PreToolUse", "mcp__fs__write", `{"files":[{"name":"~/.claude/settings.json","data":"{}"}]}`, "own-files.write")
	check("claude", "PreToolUse", "mcp__fs__read", `{"what":"file:///home/me/.ssh/id_rsa"}`, "secrets.file")
	check("claude", "PreToolUse", "mcp__fs__copy", `{"from":"/tmp/x","to":"/home/me/app/y"}`, "")
	check("claude", "PreToolUse", "mcp__shell__run", `{"input":"rm -rf ~\n"}`, "destructive.rm-broad")
	check("claude", "PreToolUse", "mcp__term__type", `{"text":"hookmux off"}`, "own-files.control")
	check("claude", "PreToolUse", "mcp__py__exec", `{"source":"import os; os.system('rm -rf ~')"}`, "destructive.rm-broad")
	check("claude", "PreToolUse", "mcp__ide__executeCode", `{"code":"%%bash\nrm -rf ~"}`, "destructive.rm-broad")
	check("claude", "PreToolUse", "mcp__slack__post_message", `{"channel":"a","text":"please do not rm -rf ~/ again"}`, "")
	check("claude", "PreToolUse", "mcp__github__create_issue", `{"title":"x","body":"hookmux off"}`, "")
	if rows < 100 {
		t.Errorf("%d calls, want at least 100", rows)
	}
}
