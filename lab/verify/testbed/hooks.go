package testbed

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/event"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/realagents"
)

// How a test bed gets its hooks: through `hookmux run`, by the installer, or with those that the
// user had installed already.

// InstallHost returns the test bed as the installer sees it.
func (st *TestBed) InstallHost() *install.Host {
	return &install.Host{
		Dirs: st.Dirs, Project: st.Project, Getenv: st.LookupEnv, Hook: filepath.Join(st.Bin, "hookmux-hook"),
		Version: "0.0.0-verify",
		Known:   st.catalogue.Agents(),
	}
}

// owned reports whether the user's own config has hooks of hookmux: then those are
// what has to be proven, as they are, trusted or not.
func (st *TestBed) owned() bool { return st.mine && st.Agent != nil && st.InstallHost().Has(st.Agent) }

// ByRun reports whether hooks are passed at launch.
func (st *TestBed) ByRun() bool { return st.Driver.Run && !st.owned() }

// AgentCommand returns the agent as it is started on this test bed: through `hookmux run` if it takes
// hooks at launch.
func (st *TestBed) AgentCommand() realagents.Installed {
	in := st.PlainCommand()
	if st.ByRun() {
		in.Argv = append([]string{filepath.Join(st.Bin, "hookmux"), "run"}, in.Argv...)
	}
	return in
}

// PlainCommand returns the agent alone.
func (st *TestBed) PlainCommand() realagents.Installed {
	in := st.In
	in.Env = nil // part of st.Env already
	return in
}

// InstallHooks registers in the home, if that is the agent's way.
func (st *TestBed) InstallHooks() error {
	if st.Agent == nil || st.Driver.Run || st.owned() {
		return nil
	}
	if st.Agent.Install == nil {
		return fmt.Errorf("%s: hookmux cannot write itself into it", st.Agent.Name)
	}
	plan, err := st.InstallHost().Install(install.Options{
		Agents: []*agent.Agent{
			st.Agent,
		}, Scope: install.User, Trust: true, Events: installedEvents(st.Agent), Known: st.catalogue.Agents(),
	})
	if err != nil {
		return err
	}
	if err := plan.Apply(&install.Disk{}); err != nil {
		return err
	}
	return st.Breakage.plugin(st)
}

// installedEvents returns those that are registered; nil when they are the usual.
func installedEvents(a *agent.Agent) []string {
	var names []string
	usual := true
	for _, e := range a.Events {
		if RegistersFor(e) {
			names = append(names, e.Name)
			usual = usual && e.Install == agent.InstallDefault
		}
	}
	if usual {
		return nil
	}
	return names
}

// WithoutHooks removes hookmux from the user's config on this test bed.
func (st *TestBed) WithoutHooks() error {
	if !st.owned() {
		return nil
	}
	plan, err := st.InstallHost().Uninstall([]*agent.Agent{st.Agent})
	if err != nil {
		return err
	}
	return plan.Apply(&install.Disk{})
}

// DiskView returns how the catalogue sees the test bed.
func (st *TestBed) DiskView() agent.DiskView {
	return agent.DiskView{
		Resolve: func(f agent.HookFile) string { return f.Resolve(st.Home, st.Project, st.LookupEnv) },
		Exists:  func(path string) bool { info, err := os.Stat(path); return err == nil && !info.IsDir() },
	}
}

// RegistersFor reports whether verify registers for an event: those that hookmux installs by default,
// and those before tools in any case. What is left to the user there is still claimed, and has to be
// checked.
func RegistersFor(e *agent.EventSpec) bool {
	return e.Install == agent.InstallDefault || e.Install == agent.InstallOptional && e.Kind == event.ToolBefore
}
