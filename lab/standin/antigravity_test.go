//go:build unix

package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// antigravity as its reference of hooks says, and as others saw agy do it: groups with a name at the top level, tool
// events in groups with a matcher, the others as plain handlers, every type strict: one that is wrong, and the whole
// file counts for nothing. A hook runs in the folder of its file. Nothing, or an empty object, at PreToolUse refuses.
var antigravity = vendor{
	agent: "antigravity",
	user:  "~/.gemini/config/hooks.json", project: "./.agents/hooks.json",
	was: []string{
		`{
  "mine": {
    "enabled": true,
    "PreToolUse": [{"matcher": "run_command", "hooks": [{"type": "command", "command": "theirs", "timeout": 30}]}],
    "Stop": [{"type": "command", "command": "theirs"}]
  }
}
`,
		`{}`, "{\"hookmux\": {}}\n", `{"mine": {"PreInvocation": [{"type": "prompt", "prompt": "x"}]}}`,
	},
	rejects: []string{
		`{"x": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "x"}]}]}}`, // no groups at Stop
		`{"x": {"PreToolUse": [{"type": "command", "command": "x"}]}}`,
		`{"x": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "x", "timeout": 1.5}]}]}}`,
		`{"hooks": [{"PreToolUse": []}]}`,
		"{\n// mine\n\"x\": {\"Stop\": [{\"type\": \"command\", \"command\": \"x\"}]}}",
		`{"x": {"enabled": false, "Stop": [{"type": "command", "command": "x"}]}}`,
	},
	load:    loadAntigravity,
	call:    antigravityCall,
	read:    readAntigravity,
	honours: honours{neutral: asks, deny: refused, unchecked: asks, missing: asks},
	more:    antigravityNeutral,
}

type antigravityHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Prompt  string `json:"prompt"`
	Timeout int32  `json:"timeout"`
}

type antigravityGroup struct {
	Matcher string               `json:"matcher"`
	Hooks   []antigravityHandler `json:"hooks"`
}

func loadAntigravity(_ *world, file string, text []byte) ([]entry, error) {
	var named map[string]struct {
		Enabled        *bool
		PreToolUse     []antigravityGroup
		PostToolUse    []antigravityGroup
		SessionStart   []antigravityHandler
		PreInvocation  []antigravityHandler
		PostInvocation []antigravityHandler
		Stop           []antigravityHandler
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&named); err != nil {
		return nil, err
	}
	var out []entry
	for name, g := range named {
		if g.Enabled != nil && !*g.Enabled {
			continue
		}
		add := func(event, matcher string, handlers []antigravityHandler) error {
			for _, h := range handlers {
				if h.Type == "prompt" && h.Prompt != "" {
					continue
				}
				if h.Type != "command" || h.Command == "" {
					return fmt.Errorf("%s.%s: type %q, command %q", name, event, h.Type, h.Command)
				}
				e := entry{event: event, argv: shell(h.Command), dir: filepath.Dir(file), limit: 30 * time.Second}
				if h.Timeout > 0 {
					e.limit = time.Duration(h.Timeout) * time.Second
				}
				if matcher != "" && matcher != "*" {
					e.matches = func(tool string) bool { ok, _ := regexp.MatchString(matcher, tool); return ok }
				}
				out = append(out, e)
			}
			return nil
		}
		for event, groups := range map[string][]antigravityGroup{"PreToolUse": g.PreToolUse,
			"PostToolUse": g.PostToolUse} {
			for _, group := range groups {
				if group.Hooks == nil {
					return nil, fmt.Errorf("%s.%s: a group without hooks", name, event)
				}
				if err := add(event, group.Matcher, group.Hooks); err != nil {
					return nil, err
				}
			}
		}
		for event, handlers := range map[string][]antigravityHandler{"SessionStart": g.SessionStart,
			"PreInvocation": g.PreInvocation, "PostInvocation": g.PostInvocation, "Stop": g.Stop} {
			if err := add(event, "", handlers); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func antigravityCall(w *world, command string) call {
	return call{event: "PreToolUse", tool: "run_command", payload: asJSON(map[string]any{
		"conversationId": "standin-antigravity", "workspacePaths": []string{w.Project}, "modelName": "gemini-3-pro",
		"transcriptPath": "", "artifactDirectoryPath": "", "stepIdx": 2,
		"toolCall": map[string]any{"name": "run_command", "args": map[string]any{"CommandLine": command,
			"Cwd": w.Project}}})}
}

// readAntigravity reads an answer; anything but a decision refuses, with an empty
// reason.
func readAntigravity(_ entry, r result) reading {
	var answer struct{ Decision, Reason string }
	if r.failed != nil || r.Exit != 0 || strictJSON([]byte(r.Stdout), &answer) != nil {
		return reading{refused, ""}
	}
	switch answer.Decision {
	case "allow":
		return reading{approved, answer.Reason}
	case "ask", "force_ask":
		return reading{asks, answer.Reason}
	}
	return reading{refused, answer.Reason}
}

// antigravityNeutral wants ask, word for word, for no opinion. The other events take
// an empty object.
func antigravityNeutral(t *testing.T, w *world) {
	c := antigravityCall(w, "echo hello")
	if r := w.run(w.ourEntry(t, w.v.user, c), c.payload); r.Stdout != `{"decision":"ask"}` || r.Exit != 0 {
		t.Errorf("no opinion is %q with exit code %d, want ask and 0: an empty answer refuses", r.Stdout, r.Exit)
	}
	for _, event := range []string{"SessionStart", "PreInvocation", "PostToolUse", "Stop"} {
		c := call{event: event, payload: strings.Replace(c.payload, `"stepIdx":2,`, "", 1)}
		if r := w.run(w.ourEntry(t, w.v.user, c), c.payload); r.Stdout != "{}" || r.Exit != 0 {
			t.Errorf("%s: no opinion is %q with exit code %d, want {} and 0", event, r.Stdout, r.Exit)
		}
	}
}
