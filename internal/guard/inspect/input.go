package inspect

import (
	"encoding/json"
	"strings"
)

// InputPaths are paths found in the raw input of a tool nobody knows: an MCP
// server's, or one an agent has just invented.
type InputPaths struct {
	Reads  []string
	Writes []string
}

const maxInput = 1 << 20

// ReadInput reads paths and commands out of the raw input where the agent's
// dialect could name none. Known tools come with their paths and are left alone.
func ReadInput(call *Call) InputPaths {
	var out InputPaths
	if len(call.Input) == 0 || len(call.Input) > maxInput || len(call.Reads)+len(call.Writes)+len(call.Commands) > 0 {
		return out
	}
	switch call.ToolKind {
	case "mcp", "other", "search", "":
	default:
		return out
	}
	var v any
	if json.Unmarshal(call.Input, &v) != nil {
		return out
	}
	w := inputWalker{call: call, out: &out, writes: toolWrites(call.ToolName)}
	w.walkValue("", v, 0)
	return out
}

// toolWrites guesses from its name whether a tool writes.
func toolWrites(tool string) bool {
	t := strings.ToLower(tool)
	for _, v := range [...]string{"write", "edit", "create", "delete", "move", "remove", "rename", "put", "replace", "patch", "append", "update", "copy", "save", "insert", "unlink", "trash"} {
		if strings.Contains(t, v) {
			return true
		}
	}
	return false
}

type inputWalker struct {
	call   *Call
	out    *InputPaths
	writes bool
	seen   int
}

func (w *inputWalker) walkValue(key string, v any, depth int) {
	if depth > 16 || w.seen > 4096 {
		return
	}
	w.seen++
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			w.walkValue(strings.ToLower(k), e, depth+1)
		}
	case []any:
		for _, e := range v {
			w.walkValue(key, e, depth+1)
		}
	case string:
		w.takeText(key, v)
	}
}

func (w *inputWalker) takeText(key, v string) {
	switch {
	case key == "command" || key == "cmd" || key == "script" || key == "shell_command":
		// A new slice: the caller's must not grow under its feet.
		w.call.Commands = append(w.call.Commands[:len(w.call.Commands):len(w.call.Commands)], v)
	case strings.Contains(key, "path") || strings.Contains(key, "file") || key == "uri" || key == "url" || key == "source" || key == "destination" || key == "target" || key == "glob" || key == "include":
		if len(v) > 4096 || strings.Contains(v, "\n") {
			return
		}
		v = strings.TrimPrefix(v, "file://")
		if w.writes {
			w.out.Writes = append(w.out.Writes, v)
		} else {
			w.out.Reads = append(w.out.Reads, v)
		}
	}
}
