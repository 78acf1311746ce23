//go:build unix

package install

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// TestRealDuplicates installs into an agent and into the one whose file it reads as
// well, and lets the first run: what it tells twice reaches hooks once.
func TestRealDuplicates(t *testing.T) {
	for _, a := range installable() {
		for _, other := range a.Install.Reads {
			t.Run(a.Name+" reads "+other, func(t *testing.T) { realDuplicates(t, a, other) })
		}
	}
}

func realDuplicates(t *testing.T, a *agent.Agent, other string) {
	entry, ok := realagents.Find(a.Name)
	if !ok {
		t.Skip("not in the table of real agents")
	}
	read, ok := agent.Builtin().Agent(other)
	if !ok || read.Install == nil {
		t.Fatalf("%s cannot be installed into", other)
	}
	testBed := agentstest.NewTestBed(t, a.Name, model.Scenario{})
	marker, heard := filepath.Join(testBed.Project, "ran"), filepath.Join(shortDir(t), "..", "heard")
	testBed.Model.SetScenario(testBed.Run, model.Scenario{Steps: []model.Step{
		{Calls: []model.ToolCall{entry.Shell.Call("touch " + marker)}},
		{Say: "done"},
	}})
	testBed.Env = append(testBed.Env, "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true", paths.RuntimeVariable+"="+shortDir(t),
		"PATH="+filepath.Dir(testBed.In.Argv[0])+":"+os.Getenv("PATH"))
	h := testBedHost(t, testBed, filepath.Join(builtPrograms.Folder(t), hookentry.HookName))
	hook := map[string]any{"id": "count", "agent": "*", "hookType": "tool.before", "handler": "command",
		"target": "echo asked >> " + heard}
	text, _ := json.Marshal(map[string]any{"version": 1, "hooks": []any{hook}})
	write(t, filepath.Join(h.Dirs.Config, "hooks.json"), string(text))
	apply(t, h, Options{Agents: []*agent.Agent{a, read}, Scope: User, Trust: true, Events: withTools(a)}, testBed)
	// Some read the other's file of the user, some that of the project alone,
	// and only where they are told to trust it.
	apply(t, h, Options{Agents: []*agent.Agent{read}, Scope: Project, Trust: true}, testBed)
	t.Cleanup(func() { endDaemon(t, h.Dirs) })
	testBed.Headless(t, "Run it "+model.Mark(""))
	if _, err := os.Stat(marker); err != nil {
		t.Error("the tool did not run")
	}

	arrived, duplicates := 0, 0
	c := &client.Client{Socket: h.Dirs.Socket()}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		arrived, duplicates = 0, 0
		ended := false
		err := c.Query(context.Background(), wire.QueryParams{}, func(e client.Entry) bool {
			var ev struct {
				Agent, Native string
				Kind          event.Kind
			}
			_ = json.Unmarshal(e.Event, &ev)
			ended = ended || ev.Kind == event.TurnEnd
			if ev.Kind == event.ToolBefore {
				arrived++
				if e.Outcome != nil && e.Outcome.Duplicate != "" {
					duplicates++
				}
				if ev.Agent != a.Name {
					t.Errorf("%s came as an event of %s", ev.Native, ev.Agent)
				}
			}
			return true
		})
		if err == nil && ended {
			break
		}
	}
	lines, _ := os.ReadFile(heard)
	t.Logf("the call arrived %d times, %d marked as duplicates, hooks were asked %d times", arrived, duplicates,
		strings.Count(string(lines), "asked"))
	if arrived < 2 {
		t.Skipf("%s did not run %s's hooks here", a.Name, other)
	}
	if arrived != 2 || duplicates != 1 || string(lines) != "asked\n" {
		t.Errorf("want it twice, one a duplicate, and hooks asked once; heard %q", lines)
	}
}
