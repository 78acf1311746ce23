//go:build unix

package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Crush as docs/hooks/README.md of its source says (2026-08-21). Its config is plain JSON; an entry is flat, and one
// without a command keeps it from starting. Other names of events are passed over.
var crush = vendor{
	agent: "crush", user: "~/.config/crush/crush.json", project: "./crush.json",
	was: []string{
		"{\n  \"$schema\": \"https://charm.land/crush.json\",\n  \"hooks\": {\"PreToolUse\": [{\"matcher\": \"^bash$\"," +
			" \"command\": \"true\"}]}\n}\n",
		"{}", "{\"hooks\": {}}\n",
	},
	rejects: []string{
		`{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "x"}]}]}}`, // Claude's form
		`{"hooks": {"PreToolUse": [{"command": "x", "matcher": "("}]}}`,
		`{"hooks": {"PreToolUse": {"command": "x"}}}`,
		"{\n// mine\n\"hooks\": {\"PreToolUse\": [{\"command\": \"x\"}]}}",
		`{"hooks": {"PostToolUse": [{"command": "x"}]}}`,
	},
	load: loadCrush, call: crushCall, read: readCrush,
	honours: honours{deny: refused, unchecked: refused},
	more:    crushShell,
}

func loadCrush(_ *world, _ string, text []byte) ([]entry, error) {
	var file struct {
		Hooks map[string][]struct {
			Name    string
			Matcher string
			Command string
			Timeout int
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	var out []entry
	for event, list := range file.Hooks {
		name := strings.ToLower(strings.ReplaceAll(event, "_", ""))
		for _, h := range list {
			if h.Command == "" {
				return nil, fmt.Errorf("hooks.%s: command is required", event)
			}
			matcher, err := regexp.Compile(h.Matcher)
			if err != nil {
				return nil, err
			}
			if name != "pretooluse" {
				continue
			}
			e := entry{event: "PreToolUse", argv: shell(h.Command), matches: matcher.MatchString,
				limit: 30 * time.Second, env: []string{"CRUSH=1", "AGENT=crush", "AI_AGENT=crush",
					"CRUSH_EVENT=PreToolUse", "CRUSH_TOOL_NAME=bash", "CRUSH_SESSION_ID=313909e"}}
			if h.Timeout > 0 {
				e.limit = time.Duration(h.Timeout) * time.Second
			}
			out = append(out, e)
		}
	}
	return out, nil
}

func crushCall(w *world, command string) call {
	return call{event: "PreToolUse", tool: "bash", payload: asJSON(map[string]any{
		"event": "PreToolUse", "session_id": "313909e", "cwd": w.Project, "tool_name": "bash",
		"tool_input": map[string]any{"command": command, "description": "scripted"},
	})}
}

// crushAnswer is the envelope a hook may print.
type crushAnswer struct {
	Version      int
	Decision     *string
	Halt         bool
	Reason       string
	Context      any
	UpdatedInput map[string]any  `json:"updated_input"`
	Claude       json.RawMessage `json:"hookSpecificOutput"`
}

func readCrush(_ entry, r result) reading {
	switch {
	case r.failed != nil:
		return reading{goesOn, ""}
	case r.Exit == 2, r.Exit == 49: // 49 ends the turn as well
		return reading{refused, r.Stderr}
	case r.Exit != 0 || strings.TrimSpace(r.Stdout) == "":
		return reading{goesOn, ""}
	}
	var a crushAnswer
	if strictJSON([]byte(r.Stdout), &a) != nil || a.Claude != nil {
		return reading{goesOn, ""}
	}
	switch {
	case a.Halt, a.Decision != nil && *a.Decision == "deny":
		return reading{refused, a.Reason}
	case a.Decision != nil && *a.Decision == "allow":
		return reading{approved, a.Reason}
	}
	return reading{goesOn, ""}
}

// crushShell runs the hook in the shell that is part of Crush, which is no sh of this machine.
func crushShell(t *testing.T, w *world) {
	c := crushCall(w, "make deploy")
	e := w.ourEntry(t, w.v.user, c)
	line, err := syntax.NewParser().Parse(strings.NewReader(e.argv[2]), "")
	if err != nil {
		t.Fatalf("Crush's shell cannot read %q: %v", e.argv[2], err)
	}
	var stdout, stderr bytes.Buffer
	sh, err := interp.New(interp.StdIO(strings.NewReader(c.payload), &stdout, &stderr), interp.Dir(w.Project),
		interp.Env(expand.ListEnviron(append(w.Env, e.env...)...)))
	if err != nil {
		t.Fatal(err)
	}
	err = sh.Run(context.Background(), line)
	var exit interp.ExitStatus
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("Crush's shell: error %v, want an exit code", err)
	}
	r := result{}
	r.Stdout, r.Stderr, r.Exit = stdout.String(), stderr.String(), int(exit)
	if got := readCrush(e, r); got.outcome != refused || !strings.Contains(got.why, "no deploys today") {
		t.Errorf("in Crush's own shell: %s (%q), want refused with the hook's reason", got.outcome, got.why)
	}
}
