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
)

// kiro as kiro.dev/docs/hooks says: a file of version v1 with a list of hooks, each with a name, a trigger and an
// action; a command is a line for a shell in the project's root, with a limit in seconds (60 without one, 0 for none).
// Exit code 2 refuses a tool or a prompt. Of other codes the pages disagree; here they refuse a tool, as the stricter
// one says of the editor.
var kiro = vendor{
	agent: "kiro",
	user:  "~/.kiro/hooks/hookmux.json", project: "./.kiro/hooks/hookmux.json",
	was: []string{`{
  "version": "v1",
  "hooks": [
    {"name": "lint-on-save", "trigger": "PostFileSave", "matcher": "\\.ts$",
     "action": {"type": "command", "command": "theirs"}, "timeout": 30, "enabled": true},
    {"name": "remind", "trigger": "PreToolUse", "matcher": "fs_write|str_replace",
     "action": {"type": "agent", "prompt": "Think of the tests"}}
  ]
}
`},
	rejects: []string{
		`{"version": "1", "hooks": [{"name": "x", "trigger": "PreToolUse", "action": {"type": "command", "command": "x"}}]}`,
		`{"hooks": [{"name": "x", "trigger": "PreToolUse", "action": {"type": "command", "command": "x"}}]}`,
		`{"version": "v1", "hooks": {"PreToolUse": [{"command": "x"}]}}`,
		`{"version": "v1", "hooks": [{"name": "x", "event": "PreToolUse", "action": {"type": "command", "command": "x"}}]}`,
		`{"version": "v1", "hooks": [{"trigger": "PreToolUse", "action": {"type": "command", "command": "x"}}]}`,
		`{"version": "v1", "hooks": [{"name": "x", "trigger": "PreToolUse", "command": "x"}]}`,
		`{"version": "v1", "hooks": [{"name": "x", "trigger": "preToolUse", "action": {"type": "command", "command": "x"}}]}`,
	},
	load: loadKiro,
	call: claudeCall("PreToolUse", "execute_bash", "standin-kiro", nil),
	read: func(_ entry, r result) reading {
		if r.failed != nil || r.Exit != 0 {
			return reading{refused, r.Stderr}
		}
		return reading{goesOn, r.Stdout}
	},
	honours: honours{deny: refused, unchecked: refused},
	more:    kiroMore,
}

var kiroTriggers = []string{"SessionStart", "AgentSpawn", "UserPromptSubmit", "PreToolUse", "PostToolUse",
	"PostFileCreate", "PostFileSave", "PostFileDelete", "PreTaskExec", "PostTaskExec", "Stop"}

func loadKiro(_ *world, _ string, text []byte) ([]entry, error) {
	var file struct {
		Version string
		Hooks   []struct {
			Name, Trigger, Matcher string
			Action                 struct{ Type, Command, Prompt string }
			Timeout                *float64
			Enabled                *bool
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if file.Version != "v1" {
		return nil, fmt.Errorf("version %q", file.Version)
	}
	var out []entry
	names := map[string]bool{}
	for _, h := range file.Hooks {
		switch {
		case h.Name == "" || names[h.Name]:
			return nil, fmt.Errorf("a hook has no name of its own: %q", h.Name)
		case !slices.Contains(kiroTriggers, h.Trigger):
			return nil, fmt.Errorf("%s: %q is no trigger", h.Name, h.Trigger)
		case h.Action.Type == "agent" && h.Action.Prompt != "", h.Enabled != nil && !*h.Enabled:
			continue
		case h.Action.Type != "command" || h.Action.Command == "":
			return nil, fmt.Errorf("%s: no action", h.Name)
		}
		names[h.Name] = true
		e := entry{event: h.Trigger, argv: shell(h.Action.Command), limit: time.Minute}
		if h.Timeout != nil && *h.Timeout > 0 {
			e.limit = time.Duration(*h.Timeout * float64(time.Second))
		}
		if m := h.Matcher; m != "" && m != "*" {
			re, err := regexp.Compile(m)
			if err != nil {
				return nil, err
			}
			e.matches = re.MatchString
		}
		out = append(out, e)
	}
	return out, nil
}

// kiroMore sends an event named as version 2 did, in small letters, as Kiro CLI 3 was
// seen to: the trigger counts.
func kiroMore(t *testing.T, w *world) {
	kiroSilence(t, w)
	c := w.v.call(w, "make deploy")
	c.payload = strings.Replace(c.payload, "PreToolUse", "preToolUse", 1)
	if got := w.ask(t, c); got.outcome != refused {
		t.Errorf("a call under the name preToolUse: %s, want %s", got.outcome, refused)
	}
}

// kiroSilence wants nothing printed at a start and a prompt: it would be words for the
// model.
func kiroSilence(t *testing.T, w *world) {
	for _, event := range []string{"SessionStart", "UserPromptSubmit"} {
		c := call{event: event, payload: asJSON(map[string]any{"session_id": "standin-kiro", "cwd": w.Project,
			"hook_event_name": event, "prompt": "Make a file"})}
		if r := w.run(w.ourEntry(t, w.v.user, c), c.payload); r.Exit != 0 || r.Stdout != "" {
			t.Errorf("%s: exit code %d and %q, want 0 and nothing", event, r.Exit, r.Stdout)
		}
	}
}
