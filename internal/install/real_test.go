//go:build unix

package install

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// TestRealAgentsLoadWhatWasInstalled installs into a fresh home, lets the real
// agent run there, and takes hookmux out again: events arrive at a real daemon, a
// refusal refuses, and the agent's config is what it was.
func TestRealAgentsLoadWhatWasInstalled(t *testing.T) {
	for _, a := range installable() {
		t.Run(a.Name, func(t *testing.T) { realAgent(t, a, false, false) })
	}
}

// TestRealAgentsWorkWithoutHookmux takes the program away after installing:
// the agent must work as if there were no hooks.
func TestRealAgentsWorkWithoutHookmux(t *testing.T) {
	for _, a := range installable() {
		t.Run(a.Name, func(t *testing.T) { realAgent(t, a, true, false) })
	}
}

// TestRealAgentsRefuseWithoutHookmux does the same for people who want calls
// refused then.
func TestRealAgentsRefuseWithoutHookmux(t *testing.T) {
	for _, a := range installable() {
		t.Run(a.Name, func(t *testing.T) { realAgent(t, a, true, true) })
	}
}

// TestRealTrustByRecipe writes trust without the agent's help, and asks it
// whether it believes it.
func TestRealTrustByRecipe(t *testing.T) {
	for _, a := range installable() {
		if !byHash(a) {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			testBed := agentstest.NewTestBed(t, a.Name, model.Scenario{})
			h := testBedHost(t, testBed, filepath.Join(builtPrograms.Folder(t), hookentry.HookName))
			p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true, Deny: true})
			hooks, err := AppServer{Program: testBed.In.Argv[0], Args: []string{"app-server"}, Env: testBed.Env,
				Dir: testBed.Project, Timeout: time.Minute}.Hooks(testBed.Project)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, l := range hooks {
				if c, ok := hookentry.ReadLine(l.Command); !ok || c.Agent != a.Name || l.Trust != "trusted" ||
					!l.Enabled {
					t.Errorf(`l = %+v, want ok, c.Agent = a.Name, l.Trust = "trusted" and l.Enabled`, l)
				} else {
					n++
				}
			}
			if n != len(p.Agents[0].Events) {
				t.Errorf("%d of %d hooks; want n == len(p.Agents[0].Events)", n, len(p.Agents[0].Events))
			}
		})
	}
}

func realAgent(t *testing.T, a *agent.Agent, gone, deny bool) {
	if _, ok := realagents.Find(a.Name); !ok {
		t.Skip("not in the table of real agents")
	}
	entry, _ := realagents.Find(a.Name)
	testBed := agentstest.NewTestBed(t, a.Name, model.Scenario{})
	marker := filepath.Join(testBed.Project, "ran")
	testBed.Model.SetScenario(testBed.Run, model.Scenario{Steps: []model.Step{
		{Calls: []model.ToolCall{entry.Shell.Call("touch " + marker)}},
		{Say: "done"},
	}})
	bin := builtPrograms.Folder(t)
	run := shortDir(t)
	testBed.Env = append(testBed.Env, paths.RuntimeVariable+"="+run, "PATH="+filepath.Dir(testBed.In.Argv[0])+":"+
		os.Getenv("PATH"))
	h := testBedHost(t, testBed, filepath.Join(bin, hookentry.HookName))
	if h.programOf(a) == "" {
		t.Logf("%s is not on PATH under its own name, so it cannot be asked", a.Name)
	}
	write(t, filepath.Join(h.Dirs.Config, "hooks.json"),
		`{"version":1,"hooks":[{"id":"no","agent":"*","hookType":"tool.before","handler":"command","target":"echo refused by the test >&2; exit 2"}]}`)
	o := Options{Agents: []*agent.Agent{a}, Scope: User, Trust: true, Events: withTools(a), Deny: deny}

	before := configs(t, h, a)
	whole := picture(t, h.Dirs.Home)
	apply(t, h, o, testBed)
	mustUninstall(t, h, a)
	// The whole home, but for what an agent that was asked made for itself.
	for path, is := range picture(t, h.Dirs.Home) {
		if was, there := whole[path]; there && was != is || !there && !byHash(a) {
			t.Errorf("installed and taken out: %s was %q and is %q", path, was, is)
		}
		delete(whole, path)
	}
	for path := range whole {
		t.Errorf("installed and taken out: %s is gone", path)
	}
	if d := cmp.Diff(before, configs(t, h, a)); d != "" {
		t.Errorf("installed and taken out: %s", d)
	}
	apply(t, h, o, testBed)
	t.Cleanup(func() { endDaemon(t, h.Dirs) })
	if gone {
		if err := os.Remove(Shim(h.Dirs)); err != nil {
			t.Fatal(err)
		}
	}
	r := testBed.Headless(t, "Run it "+model.Mark(""))
	_, ranErr := os.Stat(marker)
	switch {
	case gone && deny:
		if ranErr == nil {
			t.Error("the tool ran although calls are to be refused without hookmux")
		}
		// A plugin refuses the prompt already.
		switch results := testBed.Model.Results(testBed.Run); {
		case len(results) == 0 && a.Install.Way == agent.WayPlugin:
			t.Log("the model was never asked")
		case len(results) == 0:
			t.Error("the model was never told that its call was refused")
		default:
			t.Logf("the model was told: %s", results[0].Text)
		}
	case gone:
		if ranErr != nil || r.Exit != 0 {
			t.Errorf("without hookmux the agent does not work (exit %d)", r.Exit)
		}
	default:
		if ranErr == nil {
			t.Error("the tool ran although it was refused")
		}
		if !testBed.Model.Saw(testBed.Run, "refused by the test") {
			t.Error("the model was not told the reason")
		}
		arrivedWell(t, h, a)
	}
	own := map[string]bool{} // files the agent itself changed meanwhile
	for path, text := range configs(t, h, a) {
		if r := recordOf(t, h, path); r != nil && r.After != hash([]byte(text)) {
			own[path] = true
			t.Logf("%s: was changed by the agent", path)
		}
	}
	mustUninstall(t, h, a)
	after := configs(t, h, a)
	for path, text := range after {
		if hookentry.MentionsHookmux(text) {
			t.Errorf("%s: hookmux is still in it:\n%s", path, text)
		}
		if was, ok := before[path]; ok && was != text && touched(h, a, path) && !own[path] {
			t.Errorf("%s: is not what it was: %s", path, cmp.Diff(was, text))
		}
	}
	if t.Failed() {
		log, _ := os.ReadFile(h.Dirs.Log())
		t.Logf("daemon: %s", log)
	}
}

// withTools returns the usual events, and those before tools where they are not
// among them.
func withTools(a *agent.Agent) []string {
	var usual []string
	tools := false
	for _, e := range a.Events {
		if e.Install == agent.InstallDefault || e.Kind == event.ToolBefore && e.Install == agent.InstallOptional {
			usual = append(usual, e.Name)
			tools = tools || e.Kind == event.ToolBefore && e.Install == agent.InstallOptional
		}
	}
	if !tools {
		return nil
	}
	return usual
}

// touched are the files an installation writes to.
func touched(h *Host, a *agent.Agent, path string) bool {
	return byHash(a) && path == h.trustOf(a).file() ||
		slices.ContainsFunc(a.Install.Places, func(
			p agent.InstallPlace) bool {
			return h.resolvePath(p.HookFile) == path
		})
}

func testBedHost(t *testing.T, testBed *agentstest.TestBed, hook string) *Host {
	t.Helper()
	getenv := func(name string) string {
		for i := len(testBed.Env) - 1; i >= 0; i-- {
			if v, ok := strings.CutPrefix(testBed.Env[i], name+"="); ok {
				return v
			}
		}
		return ""
	}
	dirs, err := paths.Find(getenv)
	if err != nil {
		t.Fatal(err)
	}
	return &Host{Dirs: dirs, Project: testBed.Project, Getenv: getenv, Hook: hook, Version: "1.2.3"}
}

func apply(t *testing.T, h *Host, o Options, testBed *agentstest.TestBed) {
	t.Helper()
	p, err := h.Install(o)
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	disk := &Disk{Trust: func(g *OwnHooks) error {
		asked = true
		err := AppServer{Program: testBed.In.Argv[0], Args: []string{"app-server"}, Env: testBed.Env, Dir: g.Cwd,
			Timeout: time.Minute}.Trust(g)
		if err != nil {
			t.Errorf("%s was asked to trust: %v", g.Agent.Name, err)
		}
		return err
	}}
	if err := p.Apply(disk); err != nil {
		t.Fatal(err)
	}
	for _, a := range o.Agents {
		if !h.Installed(a) {
			t.Errorf("%s: installed, and not seen as such (asked for trust: %v)", a.Name, asked)
		}
	}
}

// configs returns the agent's own config files.
func configs(t *testing.T, h *Host, a *agent.Agent) map[string]string {
	t.Helper()
	out := map[string]string{}
	var files []agent.HookFile
	files = append(files, a.Files...)
	for _, p := range a.Install.Places {
		files = append(files, p.HookFile)
	}
	for _, f := range files {
		path := h.resolvePath(f)
		matches, _ := filepath.Glob(path)
		for _, m := range matches {
			if text, err := os.ReadFile(m); err == nil && f.Scope != "managed" {
				out[m] = string(text)
			}
		}
	}
	return out
}

func arrivedWell(t *testing.T, h *Host, a *agent.Agent) {
	t.Helper()
	c := &client.Client{Socket: h.Dirs.Socket()}
	var seen []string
	var kinds []event.Kind
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		seen, kinds = nil, nil
		err := c.Query(context.Background(), wire.QueryParams{}, func(e client.Entry) bool {
			var ev struct {
				Agent, Native string
				Kind          event.Kind
			}
			if err := json.Unmarshal(e.Event, &ev); err != nil {
				t.Error(err)
			}
			if ev.Agent == a.Name {
				seen, kinds = append(seen, ev.Native), append(kinds, ev.Kind)
			} else {
				t.Errorf("%s came as an event of %s", ev.Native, ev.Agent)
			}
			return true
		})
		if err == nil && slices.Contains(kinds, event.TurnEnd) {
			break
		}
	}
	t.Logf("arrived: %s", strings.Join(seen, " "))
	if !slices.Contains(kinds, event.ToolBefore) {
		t.Error("no event before the tool arrived")
	}
	for kind, n := range map[event.Kind]int{event.SessionStart: 1, event.TurnStart: 1, event.ToolBefore: 1} {
		if got := len(slices.DeleteFunc(slices.Clone(kinds), func(k event.Kind) bool { return k != kind })); got > n {
			t.Errorf("%s arrived %d times; want got <= n", kind, got)
		}
	}
}

// shortDir has room for a socket's address.
func shortDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(sandbox.TempDir(t), "run")
}

func endDaemon(t *testing.T, dirs paths.Dirs) {
	t.Helper()
	if err := daemontest.EndDaemon(dirs); err != nil {
		t.Error(err)
	}
}
