package agents

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// askOncePerAgent asks each agent only once: a plan is made twice, and some take seconds.
func askOncePerAgent(ask func(*agent.Agent) string) func(*agent.Agent) string {
	said := map[string]string{}
	return func(a *agent.Agent) string {
		v, ok := said[a.Name]
		if !ok {
			v = ask(a)
			said[a.Name] = v
		}
		return v
	}
}

var versionNumber = lazyregexp.New(`\d+\.\d+(\.\d+)*`)

// agentVersion asks an agent for its version; empty if it doesn't report one.
func agentVersion(app *cmdutil.App, a *agent.Agent) string {
	out, err := agentPrints(app, a, "--version")
	if err != nil {
		return ""
	}
	return versionNumber.FindString(out)
}

// agentPrints returns what an agent's program prints.
func agentPrints(app *cmdutil.App, a *agent.Agent, args ...string) (string, error) {
	program := agentProgram(app, a)
	if program == "" {
		return "", fmt.Errorf("no program %s is on your PATH", a.Launch.Program)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.WaitDelay = app.Environ, time.Second
	out, err := cmd.Output()
	return string(out), err
}

// agentProgram returns an agent's program on PATH, or empty.
func agentProgram(app *cmdutil.App, a *agent.Agent) string {
	for _, name := range append([]string{a.Launch.Program}, a.Marks.Programs...) {
		if program := paths.OnPath(name, app.Getenv("PATH")); name != "" && program != "" {
			return program
		}
	}
	return ""
}

// ProjectFolder returns the repository a folder is in, or the folder itself.
func ProjectFolder(dir string) string {
	for at := dir; at != ""; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return dir
}

// findAgents returns the agents that were asked for. An unknown one may be in a file of the
// user that doesn't load: that is reported as well.
func findAgents(app *cmdutil.App, c *agent.Catalogue, names []string) ([]*agent.Agent, error) {
	out, err := agentsByName(c, names)
	if err != nil {
		for _, p := range app.CatalogueProblems() {
			app.PrintNotes([]string{p.String()})
		}
	}
	return out, err
}

func agentsByName(c *agent.Catalogue, names []string) ([]*agent.Agent, error) {
	var out []*agent.Agent
	for _, name := range names {
		a, ok := c.Agent(name)
		if ok && a.NotInstalled != "" {
			return nil, cmdutil.UsageError("hookmux can't hook %s: %s", name, a.NotInstalled)
		}
		if !ok {
			return nil, cmdutil.UnknownAgent(c, name)
		}
		if a.Install == nil {
			return nil, cmdutil.UsageError("hookmux can't install hooks into %s; `hookmux agents show %s` says what it can do "+
				"there", name, name)
		}
		out = append(out, a)
	}
	return out, nil
}
