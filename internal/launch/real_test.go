//go:build unix

package launch_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// Real agents, started with what Plan gives: a script in place of hookmux-hook
// sees the events with its arguments, its refusal stops the tool, the user's
// own hooks on the same command line run as well.
func TestRealAgentsRunTheHooksTheyAreGiven(t *testing.T) {
	for _, c := range []struct {
		name string
		own  func(script string) []string
	}{
		{"claude", func(script string) []string {
			return []string{"--settings", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"` +
				script + `","args":["own","prompt","1"]}]}]}}`}
		}},
		{"codex", func(script string) []string {
			return []string{"-c", `hooks.UserPromptSubmit=[{hooks=[{type="command",command="` + script +
				` own prompt 1"}]}]`}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			marker := filepath.Join(t.TempDir(), "ran")
			entry, _ := realagents.Find(c.name)
			testBed := agentstest.NewTestBed(t, c.name, model.Scenario{Steps: []model.Step{
				{Calls: []model.ToolCall{entry.Shell.Call("touch " + marker)}},
				{Say: "done"},
			}})
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			hook := script(t, filepath.Join(dir, "it's \"here\" ü", "hookmux-hook"), log)
			own := script(t, filepath.Join(dir, "own"), log)

			a, ok := agent.Builtin().Agent(c.name)
			if !ok {
				t.Fatal("not in the catalogue")
			}
			args := slices.Concat(realagents.Headless(c.name, "Run it "+model.Mark("")), c.own(own))
			argv, injected, notes, err := launch.Plan(launch.Request{Agent: a, Args: args, Program: testBed.In.Argv[0],
				Hook: hook})
			if err != nil || !injected {
				t.Fatalf("injected = %v, notes = %q, error %v; want no error and injected", injected, notes, err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), agentstest.Timeout)
			defer cancel()
			r, err := realagents.Run(ctx, testBed.In, testBed.Env, testBed.Project, argv[1:]...)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := os.ReadFile(log)
			seen := strings.Fields(string(text))
			t.Logf("events: %q", seen)
			at := -1
			for _, want := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"} {
				next := slices.IndexFunc(seen, func(s string) bool { return strings.HasPrefix(s, c.name+"/"+want+"/") })
				if next <= at {
					t.Errorf("%s is missing or out of order", want)
				}
				at = next
			}
			// Trust is given to hookmux's own hooks and no others.
			ownRan := slices.Contains(seen, "own/prompt/1")
			if want := launch.OnceNotice(a) == ""; ownRan != want {
				t.Errorf("the user's own hook ran: %v, want %v", ownRan, want)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("the tool ran although the hook refused it")
			}
			if !testBed.Model.Saw(testBed.Run, "refused by the test") {
				t.Error("the model was not told the reason")
			}
			if t.Failed() {
				t.Logf("exit %d\n%s\n%s", r.Exit, r.Stdout, r.Stderr)
			}
		})
	}
}

// script logs its arguments and refuses tools.
func script(t *testing.T, file, log string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\ncat >/dev/null\necho \"$1/$2/$3\" >> '" + log + "'\n" +
		"[ \"$2\" = PreToolUse ] || exit 0\necho 'refused by the test' >&2\nexit 2\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// Without trust no hook runs, and the end of the turn is seen all the same, by
// us and by the user's own program.
func TestRealCodexTellsWithoutTrust(t *testing.T) {
	testBed := agentstest.NewTestBed(t, "codex", model.Scenario{Steps: []model.Step{{Say: "done"}}})
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	hook := script(t, filepath.Join(dir, "it's \"here\"", "hookmux-hook"), log)
	own := script(t, filepath.Join(dir, "own"), filepath.Join(dir, "own.log"))
	a, _ := agent.Builtin().Agent("codex")
	args := slices.Concat([]string{"-c", `notify=["` + own + `","mine"]`},
		realagents.Headless("codex", "Say it "+model.Mark("")))
	argv, injected, _, err := launch.Plan(launch.Request{Agent: a, Args: args, Program: testBed.In.Argv[0], Hook: hook,
		Untrusted: true})
	if err != nil || !injected {
		t.Fatalf("injected = %v, error %v; want no error and injected", injected, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), agentstest.Timeout)
	defer cancel()
	r, err := realagents.Run(ctx, testBed.In, testBed.Env, testBed.Project, argv[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{log, filepath.Join(dir, "own.log")} {
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(file); err == nil { // it is not waited for
				break
			}
		}
	}
	if text, _ := os.ReadFile(log); string(text) != "codex/agent-turn-complete/10\n" {
		t.Errorf("the hook saw %q (exit %d)\n%s", text, r.Exit, r.Stderr)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "own.log")); !strings.HasPrefix(string(text), "mine/{") {
		t.Errorf("the user's own saw %q", text)
	}
}
