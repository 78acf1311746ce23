package guard

import (
	"encoding/json"
	"strings"
)

// inputPaths are paths found in the raw input of a tool nobody knows: an MCP
// server's, or one an agent has just invented.
type inputPaths struct {
	reads  []string
	writes []string
}

const maxInput = 1 << 20

// callFromInput reads paths and commands out of the raw input where the agent's
// dialect could name none. Known tools come with their paths and are left alone.
func callFromInput(call *Call) inputPaths {
	var out inputPaths
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
	w := inputWalker{call: call, out: &out, writes: changes(call.ToolName)}
	w.walk("", v, 0)
	return out
}

// changes guesses from its name whether a tool writes.
func changes(tool string) bool {
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
	out    *inputPaths
	writes bool
	seen   int
}

func (w *inputWalker) walk(key string, v any, depth int) {
	if depth > 16 || w.seen > 4096 {
		return
	}
	w.seen++
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			w.walk(strings.ToLower(k), e, depth+1)
		}
	case []any:
		for _, e := range v {
			w.walk(key, e, depth+1)
		}
	case string:
		w.text(key, v)
	}
}

func (w *inputWalker) text(key, v string) {
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
			w.out.writes = append(w.out.writes, v)
		} else {
			w.out.reads = append(w.out.reads, v)
		}
	}
}
