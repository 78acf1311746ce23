package ruleimport

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// sampled are the measured sets of settings that the real agent is asked about again.
var sampled = []string{"bash-exact", "bash-deny-noallow", "read-deny-env-2", "inv-deny-1", "prec-3", "bash-ask-nested"}

// projectFiles are the files that measured calls name.
var projectFiles = []string{"README.md", ".env", ".env.local", "notes.txt", "src/index.ts", "src/.env", "src/lib/util.ts",
	"secrets/key.pem", "docs/a.md", "build/out.js", "config/app.json", "packages/a/.env", "Makefile"}

// stubs are programs that measured calls run, and that do nothing here.
var stubs = []string{"npm", "make", "curl", "docker", "sudo", "wget", "yarn", "npx", "rm", "git", "cargo", "node"}

// TestRealPermissionRules asks the real Claude Code again about a sample of the calls
// that rules were measured by, and the imported rules as well.
func TestRealPermissionRules(t *testing.T) {
	agentstest.Require(t, "claude")
	for _, set := range readLab(t, "oracle.jsonl") {
		if !slices.Contains(sampled, set.Set) {
			continue
		}
		t.Run(set.Set, func(t *testing.T) { askReal(t, set) })
	}
}

func askReal(t *testing.T, set labSet) {
	var steps []model.Step
	for _, call := range set.Calls {
		steps = append(steps, model.Step{Calls: []model.ToolCall{model.Call(call.Tool, call.Input)}})
	}
	s := agentstest.NewTestBed(t, "claude", model.Scenario{})
	here := strings.NewReplacer(labProject, s.Project, labHome, s.Home)
	for i := range steps {
		steps[i].Calls[0].Input = json.RawMessage(here.Replace(string(steps[i].Calls[0].Input)))
	}
	s.Model.SetScenario(s.Run, model.Scenario{Steps: append(steps, model.Step{Say: "That was all."})})
	writeRealProject(t, s.Project, here.Replace(`{"permissions":`+string(set.Rules["project"])+`}`))
	heard := filepath.Join(t.TempDir(), "heard")
	settings := filepath.Join(t.TempDir(), "hooks.json")
	writeText(t, settings, hookSettings(t, heard), 0o644)
	stubFolder := t.TempDir()
	for _, name := range stubs {
		writeText(t, filepath.Join(stubFolder, name), "#!/bin/sh\necho STUB "+name+" \"$@\"\n", 0o755)
	}
	env := slices.Clone(s.Env)
	for i, variable := range env {
		if rest, ok := strings.CutPrefix(variable, "PATH="); ok {
			env[i] = "PATH=" + stubFolder + ":" + rest
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), agentstest.Timeout)
	defer cancel()
	r, err := realagents.Run(ctx, s.In, env, s.Project, "-p", "Go "+model.Mark(""), "--output-format", "stream-json",
		"--verbose", "--permission-mode", "default", "--settings", settings)
	if err != nil {
		t.Fatalf("want Claude Code to end, got %v: %.2000s %.2000s", err, r.Stdout, r.Stderr)
	}
	outcomes := readOutcomes(t, heard)
	imported := importSet(t, set, false)
	for i, call := range set.Calls {
		input := canonical(t, steps[i].Calls[0].Input)
		really := rules.Deny
		if verdict, ok := outcomes[call.Tool+input]; ok {
			really = verdict
		}
		if really != call.Outcome {
			t.Errorf("%s %s: want %s as measured, the real one said %s", call.Tool, input, call.Outcome, really)
		}
		if got, _ := decideImported(t, imported, call, true); got != really {
			t.Errorf("%s %s: want %s as the real one, imported rules said %s", call.Tool, input, really, got)
		}
	}
	t.Logf("%d calls, asked in %s", len(set.Calls), r.Took)
}

// hookSettings are settings whose hooks write down what was asked about and what ran.
func hookSettings(t *testing.T, heard string) string {
	t.Helper()
	hooks := map[string]any{}
	for _, name := range []string{"PermissionRequest", "PostToolUse", "PostToolUseFailure"} {
		hooks[name] = []any{map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command",
			"command": "{ cat; echo; } >> '" + heard + "'"}}}}
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		t.Fatalf("want settings, got %v", err)
	}
	return string(text)
}

// readOutcomes says what came of each call that was heard of: ask where a person would
// have been asked, allow where it ran.
func readOutcomes(t *testing.T, heard string) map[string]rules.Verdict {
	t.Helper()
	text, err := os.ReadFile(heard)
	if err != nil {
		t.Fatalf("want hooks to be called, got %v", err)
	}
	out := map[string]rules.Verdict{}
	for line := range bytes.Lines(text) {
		var payload struct {
			Event string          `json:"hook_event_name"`
			Tool  string          `json:"tool_name"`
			Input json.RawMessage `json:"tool_input"`
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &payload); err != nil {
			t.Fatalf("want a payload on each line, got %q: %v", line, err)
		}
		key := payload.Tool + canonical(t, payload.Input)
		if payload.Event == "PermissionRequest" {
			out[key] = rules.Ask
		} else if out[key] != rules.Ask {
			out[key] = rules.Allow
		}
	}
	return out
}

// canonical returns the argument that a call is known by.
func canonical(t *testing.T, input json.RawMessage) string {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal(input, &values); err != nil {
		t.Fatalf("want an input, got %q: %v", input, err)
	}
	for _, name := range []string{"command", "file_path"} {
		if value, ok := values[name].(string); ok {
			return " " + value
		}
	}
	return string(input)
}

func writeRealProject(t *testing.T, project, settings string) {
	t.Helper()
	for _, name := range projectFiles {
		writeText(t, filepath.Join(project, name), "file "+name+"\nalpha\nbeta\n", 0o644)
	}
	if err := os.Symlink(".env", filepath.Join(project, "link-env")); err != nil {
		t.Fatalf("want a link, got %v", err)
	}
	writeText(t, filepath.Join(project, ".claude", "settings.json"), settings, 0o644)
}

func writeText(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatalf("%s: want a folder, got %v", file, err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatalf("%s: want it written, got %v", file, err)
	}
}
