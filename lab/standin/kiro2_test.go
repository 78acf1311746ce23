//go:build unix

package standin

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// kiro2 as the documents of agent files say: a file per agent of the user's, with a name and tools, hooks in flat
// lists below "hooks", limits in milliseconds (30 seconds without one), and exit code 2 refuses a tool.
var kiro2 = vendor{
	agent: "kiro2",
	user:  "~/.kiro/agents/hookmux.json", project: "./.kiro/agents/hookmux.json",
	was: []string{`{
  "name": "hookmux",
  "tools": ["fs_read"],
  "hooks": {"preToolUse": [{"matcher": "fs_write", "command": "theirs"}]}
}
`},
	rejects: []string{
		`{"name": "x", "tools": ["*"], "hooks": {"preToolUse": [{"matcher": "*"}]}}`,
		`{"name": "x", "tools": ["*"], "hooks": {"preToolUse": {"command": "x"}}}`,
		`{"name": "x", "hooks": {"preToolUse": [{"command": "x"}]}}`, // an agent without tools runs none
		`{"name": "x", "tools": ["*"], "hooks": {"PreToolUse": [{"command": "x"}]}}`,
	},
	load: loadKiro2,
	call: claudeCall("preToolUse", "execute_bash", "standin-kiro2", nil),
	read: func(_ entry, r result) reading {
		if r.failed == nil && r.Exit == 2 {
			return reading{refused, r.Stderr}
		}
		return reading{goesOn, r.Stdout}
	},
	honours: honours{deny: refused, unchecked: refused},
}

func loadKiro2(_ *world, _ string, text []byte) ([]entry, error) {
	var file struct {
		Name  string
		Tools []string
		Hooks map[string][]struct {
			Command   string
			Matcher   string
			TimeoutMS int `json:"timeout_ms"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if file.Name == "" || len(file.Tools) == 0 {
		return nil, fmt.Errorf("an agent without a name or tools")
	}
	known := []string{"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"}
	var out []entry
	for event, list := range file.Hooks {
		if !slices.Contains(known, event) {
			return nil, fmt.Errorf("%s is no trigger", event)
		}
		for _, h := range list {
			if h.Command == "" {
				return nil, fmt.Errorf("%s: a hook without a command", event)
			}
			e := entry{event: event, argv: shell(h.Command), limit: 30 * time.Second}
			if h.TimeoutMS > 0 {
				e.limit = time.Duration(h.TimeoutMS) * time.Millisecond
			}
			if m := h.Matcher; m != "" && m != "*" {
				e.matches = func(tool string) bool { return tool == m }
			}
			out = append(out, e)
		}
	}
	return out, nil
}
