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
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// TestRealAgentsRunWhatStandsInOthersFiles writes hooks for Claude alone and
// starts the agents that are said to read its files: in the scopes they are said
// to read their calls arrive, as theirs, and can be refused; in the others
// nothing does. Installing says so beforehand.
func TestRealAgentsRunWhatStandsInOthersFiles(t *testing.T) {
	for _, reader := range installable() {
		for _, name := range reader.Install.Reads {
			for _, scope := range []string{User, Project} {
				t.Run(reader.Name+" reads "+name+" "+scope,
					func(t *testing.T) { crossRead(t, reader, known(t, name), scope) })
			}
		}
	}
}

func crossRead(t *testing.T, reader, other *agent.Agent, scope string) {
	entry, ok := realagents.Find(reader.Name)
	if !ok {
		t.Skip("not in the table of real agents")
	}
	testBed := agentstest.NewTestBed(t, reader.Name, model.Scenario{})
	marker := filepath.Join(testBed.Project, "ran")
	testBed.Model.SetScenario(testBed.Run, model.Scenario{Steps: []model.Step{
		{Calls: []model.ToolCall{entry.Shell.Call("touch " + marker)}},
		{Say: "done"},
	}})
	// Under its own name on PATH, so that installing finds it.
	bin := t.TempDir()
	if err := os.Symlink(testBed.In.Argv[0], filepath.Join(bin, reader.Launch.Program)); err != nil {
		t.Fatal(err)
	}
	testBed.Env = append(testBed.Env, paths.RuntimeVariable+"="+shortDir(t), "PATH="+bin+":"+filepath.Dir(testBed.In.Argv[0])+
		":"+os.Getenv("PATH"),
		"GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true",
		"GROK_FOLDER_TRUST=0") // the project's files count, as in a trusted folder
	h := testBedHost(t, testBed, filepath.Join(builtPrograms.Folder(t), hookentry.HookName))
	write(t, filepath.Join(h.Dirs.Config, "hooks.json"),
		`{"version":1,"hooks":[{"id":"no","agent":"*","hookType":"tool.before","handler":"command","target":"echo refused by the test >&2; exit 2"}]}`)
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{other}, Scope: scope, Known: installable()})
	t.Cleanup(func() { endDaemon(t, h.Dirs) })
	said := strings.Contains(strings.Join(p.Agents[0].Notes, "\n"), reader.Title+" runs the hooks it finds here")
	testBed.Headless(t, "Run it "+model.Mark(""))
	_, err := os.Stat(marker)
	ran := err == nil

	var natives []string
	c := &client.Client{Socket: h.Dirs.Socket()}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end) &&
		(natives == nil) == said; time.Sleep(50 * time.Millisecond) {
		natives = nil
		_ = c.Query(context.Background(), wire.QueryParams{}, func(e client.Entry) bool { // no daemon: nothing came
			var ev struct{ Agent, Native string }
			if err := json.Unmarshal(e.Event, &ev); err != nil {
				t.Error(err)
			}
			natives = append(natives, ev.Agent+"/"+ev.Native)
			return true
		})
		if !said {
			break
		}
	}
	t.Logf("said: %v; arrived: %v; the tool ran: %v", said, natives, ran)
	if said != (len(natives) > 0) {
		t.Errorf("installing said that it reads them: %v", said)
	}
	if said == ran {
		t.Errorf("the tool ran: %v", ran)
	}
	for _, n := range natives {
		if !strings.HasPrefix(n, reader.Name+"/") {
			t.Errorf("%s: is not taken for the one who asked", n)
		}
	}
}
