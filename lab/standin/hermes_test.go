//go:build unix

package standin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	shellwords "mvdan.cc/sh/v3/shell"
)

// hermes as agent/shell_hooks.py of its vendor's repository runs hooks: a map of events in config.yaml, commands that
// it splits into words itself, a limit in seconds of at most 300, and a list of what its person allowed, without which
// a hook is passed over. Exit code 2 or decision block refuses a tool; an approval means nothing.
var hermes = vendor{
	agent: "hermes", user: "~/.hermes/config.yaml",
	was: []string{
		"# mine\nmodel: hermes-4\nhooks:   # theirs\n  pre_tool_call:\n    - matcher: \"terminal|patch\"\n" +
			"      command: theirs --check\n  outbound:\n    - {name: x, url: https://example.org/x, events: [on_session_end]}\n" +
			"hooks_auto_accept: false\n",
		"model: x", "", "hooks: {}\r\nmodel: x\r\n", "\ufeffmodel: &m x\nother: *m\nhooks:\n",
		"hooks: {pre_tool_call: [{command: theirs}]}\n",
	},
	rejects: []string{
		"hooks:\n  pre_tool_call:\n    command: x\n",
		"hooks:\n  pre_tool_call:\n    - command: [x, y]\n",
		"hooks:\n  PreToolUse:\n    - command: x\n",
		"hooks:\n- pre_tool_call\n",
		"hooks:\n\tpre_tool_call: []\n",
	},
	load: loadHermes,
	call: func(w *world, command string) call {
		return call{event: "pre_tool_call", tool: "terminal", payload: asJSON(map[string]any{
			"hook_event_name": "pre_tool_call", "tool_name": "terminal", "tool_input": map[string]any{"command": command},
			"session_id": "standin-hermes", "cwd": w.Project, "profile": "default",
			"extra": map[string]any{"tool_call_id": "call_1", "turn_id": "t1"}})}
	},
	read:    readHermes,
	honours: honours{deny: refused, unchecked: refused},
	more:    hermesConsent,
}

var hermesEvents = []string{"on_session_start", "on_session_reset", "on_session_end", "on_session_finalize",
	"pre_llm_call", "post_llm_call", "pre_tool_call", "post_tool_call", "pre_approval_request", "post_approval_response",
	"pre_verify", "subagent_start", "subagent_stop"}

func loadHermes(_ *world, _ string, text []byte) ([]entry, error) {
	var config struct{ Hooks any }
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	events, _ := config.Hooks.(map[string]any) // anything else holds no hooks
	var out []entry
	for event, raw := range events {
		list, ok := raw.([]any)
		if !ok || !slices.Contains(hermesEvents, event) {
			continue
		}
		for _, one := range list {
			h, _ := one.(map[string]any)
			command, _ := h["command"].(string)
			argv, err := shellwords.Fields(command, func(string) string { return "" }) // as shlex splits it
			if err != nil || len(argv) == 0 {
				continue
			}
			e := entry{event: event, argv: argv, limit: time.Minute}
			if n, ok := h["timeout"].(uint64); ok && n > 0 {
				e.limit = min(time.Duration(n)*time.Second, 5*time.Minute)
			}
			if m, ok := h["matcher"].(string); ok && strings.HasSuffix(event, "_tool_call") {
				re, err := regexp.Compile("^(?:" + m + ")$")
				if err != nil {
					return nil, err
				}
				e.matches = re.MatchString
			}
			out = append(out, e)
		}
	}
	return out, nil
}

func readHermes(_ entry, r result) reading {
	var answer struct{ Action, Decision, Reason, Message string }
	if r.failed != nil {
		return reading{goesOn, r.failed.Error()}
	}
	valid := json.Unmarshal([]byte(r.Stdout), &answer) == nil
	switch {
	case valid && (answer.Action == "block" || answer.Decision == "block"):
		return reading{refused, answer.Reason + answer.Message}
	case r.Exit == 2:
		return reading{refused, r.Stderr}
	}
	return reading{goesOn, r.Stdout} // approve, allow and ask mean nothing to it
}

// hermesAllowed returns the pairs of event and command that the user allowed.
func hermesAllowed(t *testing.T, w *world) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(w.file("~/.hermes/shell-hooks-allowlist.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Approvals []struct{ Event, Command string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("Hermes cannot read its list: %v\n%s", err, text)
	}
	out := map[string]bool{}
	for _, a := range list.Approvals {
		out[a.Event+" "+a.Command] = true
	}
	return out
}

// hermesConsent wants each installed hook allowed word for word, what the user
// allowed kept, and Hermes' own question not skipped by an approval.
func hermesConsent(t *testing.T, w *world) {
	text, err := os.ReadFile(w.file(w.v.user))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Hooks map[string][]struct{ Command string }
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	allowed := hermesAllowed(t, w)
	ours := 0
	for event, list := range config.Hooks {
		for _, h := range list {
			if !strings.Contains(h.Command, "hookmux-hook") {
				continue
			}
			ours++
			if !allowed[event+" "+h.Command] {
				t.Errorf("%s: %q is not in the list of what is allowed, so Hermes passes over it", event, h.Command)
			}
		}
	}
	if ours == 0 || ours != len(allowed) {
		t.Errorf("%d hooks and %d entries in the list, want as many", ours, len(allowed))
	}
	for _, verdict := range []string{"allow", "approve", "ask"} {
		r := result{}
		r.Stdout = fmt.Sprintf(`{"decision":%q,"action":%q}`, verdict, verdict)
		if got := readHermes(entry{}, r); got.outcome != goesOn {
			t.Errorf("%s: %s, want that Hermes goes on as without a hook", verdict, got.outcome)
		}
	}
	c := w.v.call(w, "echo hello")
	if r := w.run(w.ourEntry(t, w.v.user, c), c.payload); r.Stdout != "" {
		t.Errorf("no opinion is %q, want nothing: Hermes would warn of text that is no JSON", r.Stdout)
	}
	if _, err := os.Stat(filepath.Join(w.Project, ".hermes")); err == nil {
		t.Error("something was written into the project, which Hermes does not read")
	}
}
