//go:build unix

package standin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/install"
)

// openhands as openhands/sdk/hooks of its software-agent-sdk says: events at the top level in snake_case or
// PascalCase, or below "hooks" alone; one that is there twice, or a PascalCase name that is none, and nothing is loaded.
var openhands = vendor{
	agent: "openhands",
	user:  "~/.openhands/hooks.json", project: "./.openhands/hooks.json",
	was: []string{
		`{
  "stop": [{"matcher": "*", "hooks": [{"command": ".openhands/hooks/lint.sh", "timeout": 120}]}]
}
`,
		`{"hooks": {"PreToolUse": [{"matcher": "terminal", "hooks": [{"type": "command", "command": "theirs"}]}]}}`,
		"{\n\t\"PreToolUse\": [{\"hooks\": [{\"command\": \"theirs\"}]}],\n\t\"stop\": []\n}",
		`{}`,
	},
	rejects: []string{
		`{"pre_tool_use": [{"hooks": [{"command": "x"}]}], "PreToolUse": [{"hooks": [{"command": "x"}]}]}`,
		`{"PermissionRequest": [{"hooks": [{"command": "x"}]}]}`,
		`{"pre_tool_use": [{"hooks": [{"timeout": 5}]}]}`,
		`{"pre_tool_use": [{"hooks": [{"command": "x", "timeout": "5"}]}]}`,
	},
	load: loadOpenHands,
	call: func(w *world, command string) call {
		return call{event: "pre_tool_use", tool: "terminal", payload: asJSON(map[string]any{
			"event_type": "PreToolUse", "tool_name": "terminal", "tool_input": map[string]any{"command": command},
			"tool_response": nil, "message": nil, "session_id": "standin-openhands", "working_dir": w.Project,
			"metadata": map[string]any{}})}
	},
	read:    readOpenHands,
	honours: honours{deny: refused, unchecked: refused},
	more:    openhandsSpelling,
}

var openhandsEvents = []string{"pre_tool_use", "post_tool_use", "user_prompt_submit", "session_start", "session_end",
	"stop"}

var inPascalCase = regexp.MustCompile(`([a-z])([A-Z])`)

func loadOpenHands(w *world, _ string, text []byte) ([]entry, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(text, &top); err != nil {
		return nil, err
	}
	if inner, ok := top["hooks"]; ok { // all other members are passed over
		top = nil
		if err := json.Unmarshal(inner, &top); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	var out []entry
	for key, raw := range top {
		event := strings.ToLower(inPascalCase.ReplaceAllString(key, "${1}_${2}"))
		switch {
		case seen[event]:
			return nil, fmt.Errorf("duplicate hook event: %s", key)
		case !slices.Contains(openhandsEvents, event) && event != key:
			return nil, fmt.Errorf("unknown event type %s", key)
		}
		seen[event] = true
		one, err := openhandsEntries(w, event, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if slices.Contains(openhandsEvents, event) {
			out = append(out, one...)
		}
	}
	return out, nil
}

func openhandsEntries(w *world, event string, raw json.RawMessage) (out []entry, err error) {
	var groups []struct {
		Matcher *string
		Hooks   []struct {
			Type    string
			Command *string
			Timeout *int
		}
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		return nil, err
	}
	for _, g := range groups {
		for _, h := range g.Hooks {
			switch {
			case h.Type == "prompt":
				continue
			case h.Type != "" && h.Type != "command":
				return nil, fmt.Errorf("type: %q is none", h.Type)
			case h.Command == nil:
				return nil, fmt.Errorf("command: field required")
			}
			e := entry{event: event, argv: shell(*h.Command), limit: time.Minute, env: []string{
				"OPENHANDS_EVENT_TYPE=PreToolUse", "OPENHANDS_TOOL_NAME=terminal", "OPENHANDS_PROJECT_DIR=" + w.Project,
				"OPENHANDS_SESSION_ID=standin-openhands"}}
			if h.Timeout != nil {
				e.limit = time.Duration(*h.Timeout) * time.Second
			}
			if m := g.Matcher; m != nil && *m != "*" && *m != "" {
				e.matches = func(tool string) bool { return *m == tool }
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// readOpenHands reads an answer; a decision in JSON counts for more than the exit
// code.
func readOpenHands(_ entry, r result) reading {
	if r.failed != nil {
		return reading{goesOn, r.failed.Error()}
	}
	var answer struct{ Decision, Reason string }
	_ = json.Unmarshal([]byte(r.Stdout), &answer) // text that is no JSON says nothing
	switch {
	case answer.Decision == "deny", r.Exit == 2:
		return reading{refused, answer.Reason + r.Stderr}
	}
	return reading{goesOn, r.Stdout}
}

// openhandsSpelling wants our hook under the user's spelling of an event: a file
// with two spellings of one is thrown away whole.
func openhandsSpelling(t *testing.T, w *world) {
	file := w.file(w.v.project)
	for _, was := range w.v.was {
		w.Write(file, was)
		theirs := w.load(t, w.v.project)
		w.install(t, install.Project)
		wantEntries(t, w, w.v.project, theirs)
	}
}
