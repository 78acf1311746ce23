//go:build unix

package standin

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/event"
)

// rovodev as the adapter says that its vendor's staff wrote (adapters/rovodev.sh of PeonPing/peon-ping): a list of
// events in config.yml, one element for each name, whose commands a shell runs with the payload on stdin. They are
// started and not waited for, so nothing that they print or return is read.
var rovodev = vendor{
	agent: "rovodev", user: "~/.rovodev/config.yml",
	was: []string{
		"# mine\nversion: 1\neventHooks:   # theirs\n  logFile: /tmp/event_hooks.log\n  events:\n    - name: on_complete\n" +
			"      commands:\n        - command: say done\n        - command: theirs on_complete\n    - name: on_error\n" +
			"      commands: []\ntoolPermissions:\n  bash:\n    default: ask\n",
		"version: 1", "", "eventHooks:\n  events: []\r\n", "\ufeffversion: &v 1\nother: *v\neventHooks:\n",
		"eventHooks: {events: [{name: on_complete, commands: [{command: theirs}]}]}\n",
		"eventHooks:\n    events:\n    -   name: on_tool_start\n        commands:\n        -   command: theirs\n",
		"\"eventHooks\":\n  \"events\":\n  - \"name\": on_error\n",
	},
	rejects: []string{
		"eventHooks:\n  events:\n    - name: PreToolUse\n      commands:\n        - command: x\n",
		"eventHooks:\n  events:\n    - name: on_complete\n      command: x\n",
		"eventHooks:\n  events:\n    - name: on_complete\n      commands:\n        - x\n",
		"eventHooks:\n  events:\n    on_complete:\n      - command: x\n",
		"eventHooks:\n  events:\n    - name: on_complete\n      commands: []\n    - name: on_complete\n      commands:\n        - command: x\n",
		"eventHooks:\n\tevents: []\n",
	},
	load: loadRovodev,
	call: func(w *world, command string) call {
		return call{event: "on_tool_start", payload: rovodevPayload(w, "on_tool_start", command)}
	},
	// Whatever comes back, it is not looked at.
	read: func(_ entry, r result) reading { return reading{goesOn, r.Stdout} },
	more: rovodevOnlyWatches,
}

var rovodevEvents = map[string]bool{"on_user_prompt": true, "on_tool_start": true, "on_tool_end": true,
	"on_complete": true, "on_error": true, "on_tool_permission": true, "on_session_start": true, "on_session_end": true}

func rovodevPayload(w *world, name, command string) string {
	return asJSON(map[string]any{"session_id": "standin-rovodev", "cwd": w.Project, "hook_event_name": name,
		"attributes": map[string]any{"tool_input": map[string]any{"tool_name": "bash",
			"args": map[string]any{"command": command}}}})
}

func loadRovodev(_ *world, _ string, text []byte) ([]entry, error) {
	var config struct {
		EventHooks struct {
			Events []struct {
				Name     string
				Commands []struct{ Command string }
			}
		} `yaml:"eventHooks"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	var out []entry
	seen := map[string]bool{}
	for _, e := range config.EventHooks.Events {
		if !rovodevEvents[e.Name] {
			return nil, fmt.Errorf("%s is no event", e.Name)
		}
		// What becomes of a second element of one name nobody says, so there must be none.
		if seen[e.Name] {
			return nil, errors.New("two elements for " + e.Name)
		}
		seen[e.Name] = true
		for _, c := range e.Commands {
			if c.Command == "" {
				return nil, fmt.Errorf("%s: a command without one", e.Name)
			}
			out = append(out, entry{event: e.Name, argv: shell(c.Command), limit: time.Minute})
		}
	}
	return out, nil
}

// rovodevOnlyWatches wants a refused call to go on and not be claimed to be stopped:
// the hook answers nothing. A command of several lines, which comes in a payload that
// is no JSON, is told with all of them.
func rovodevOnlyWatches(t *testing.T, w *world) {
	for _, e := range w.agent.Events {
		if len(e.Claims()) > 0 {
			t.Errorf("%s: claims %v, want none: its answer is never read", e.Name, e.Claims())
		}
	}
	c := w.v.call(w, "make deploy")
	if r := w.run(w.ourEntry(t, w.v.user, c), c.payload); r.Stdout != "" || r.Exit != 0 {
		t.Errorf("a refused call: %q with exit code %d, want nothing and 0: nobody reads it", r.Stdout, r.Exit)
	}
	// The daemon says no to it, and Rovo Dev does not hear it.
	broken := strings.Replace(rovodevPayload(w, "on_tool_start", "echo one@make deploy"), "@", "\n", 1)
	c.payload = strings.Replace(broken, "standin-rovodev", "standin-rovodev-broken", 1)
	if got := w.v.read(entry{}, w.run(w.ourEntry(t, w.v.user, c), c.payload)); got.outcome != goesOn {
		t.Errorf("a refused call of two lines: %s, want that Rovo Dev goes on", got.outcome)
	}
	w.Eventually("a payload with a line break in a text is stored, with a refusal that stopped nothing", func() bool {
		for _, r := range w.Rows() {
			if r.Session == "standin-rovodev-broken" && r.Outcome != nil {
				return r.Malformed == "" && r.Kind == string(event.ToolBefore) && r.Verdict() == "none" &&
					strings.Contains(string(r.Outcome.Decision), "no deploys today")
			}
		}
		return false
	})
}
