package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/verify/agents"
)

// How a stage gets its hooks: through `hookmux run`, by the installer, or with
// what a person had installed already.

// host is the stage as the installer sees it.
func (st *Stage) host() *install.Host {
	return &install.Host{
		Dirs: st.Dirs, Project: st.Project, Getenv: st.lookupEnv, Hook: filepath.Join(st.Bin, "hookmux-hook"), Version: "0.0.0-verify",
		Known: st.catalogue.Agents(),
	}
}

// owned says that the person's own config has hooks of hookmux: then those are
// what has to be proven, as they are, trusted or not.
func (st *Stage) owned() bool { return st.mine && st.Agent != nil && st.host().Has(st.Agent) }

// byRun says that hooks are given at launch.
func (st *Stage) byRun() bool { return st.Driver.Run && !st.owned() }

// start is the agent as it is started on this stage: through `hookmux run`
// where it takes hooks at launch.
func (st *Stage) start() agents.Installed {
	in := st.plain()
	if st.byRun() {
		in.Argv = append([]string{filepath.Join(st.Bin, "hookmux"), "run"}, in.Argv...)
	}
	return in
}

// plain is the agent alone.
func (st *Stage) plain() agents.Installed {
	in := st.In
	in.Env = nil // part of st.Env already
	return in
}

// installHooks registers in the home, where that is the agent's way.
func (st *Stage) installHooks() error {
	if st.Agent == nil || st.Driver.Run || st.owned() {
		return nil
	}
	if st.Agent.Install == nil {
		return fmt.Errorf("%s: hookmux cannot write itself into it", st.Agent.Name)
	}
	plan, err := st.host().Install(install.Options{
		Agents: []*agent.Agent{st.Agent}, Scope: install.User, Trust: true, Events: installedEvents(st.Agent), Known: st.catalogue.Agents(),
	})
	if err != nil {
		return err
	}
	if err := plan.Apply(&install.Disk{}); err != nil {
		return err
	}
	return st.sabotage.plugin(st)
}

// installedEvents are those that are registered; nil when they are the usual.
func installedEvents(a *agent.Agent) []string {
	var names []string
	usual := true
	for _, e := range a.Events {
		if registersFor(e) {
			names = append(names, e.Name)
			usual = usual && e.Install == agent.InstallDefault
		}
	}
	if usual {
		return nil
	}
	return names
}

// withoutHooks takes hookmux out of a person's config on this stage.
func (st *Stage) withoutHooks() error {
	if !st.owned() {
		return nil
	}
	plan, err := st.host().Uninstall([]*agent.Agent{st.Agent})
	if err != nil {
		return err
	}
	return plan.Apply(&install.Disk{})
}

// beside adds hooks that break, as hookmux would write them.
func (st *Stage) beside(hooks []brokenHook) error {
	var commands []install.Command
	for _, h := range hooks {
		commands = append(commands, install.Command{Program: h.program, Agent: st.Agent.Name, Event: h.event, Seconds: int(brokenLimit / time.Second)})
	}
	return st.host().Beside(st.Agent, install.User, commands)
}

// look is how the catalogue sees the stage.
func (st *Stage) look() agent.Look {
	return agent.Look{
		Resolve: func(f agent.HookFile) string { return f.Resolve(st.Home, st.Project, st.lookupEnv) },
		Exists:  func(path string) bool { info, err := os.Stat(path); return err == nil && !info.IsDir() },
	}
}
