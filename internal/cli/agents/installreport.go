package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

func CountFiles(n int) string {
	if n == 1 {
		return "1 file would change"
	}
	return fmt.Sprintf("%d files would change", n)
}

// afterInstall tries the hooks and says how it went.
func afterInstall(ctx context.Context, app *cmdutil.App, h *install.Host, plan *install.Plan, agents []*agent.Agent,
	f *InstallFlags) error {
	agents = slices.DeleteFunc(slices.Clone(agents), func(a *agent.Agent) bool {
		return !slices.ContainsFunc(plan.Agents, func(p install.AgentPlan) bool {
			return p.Name == a.Name &&
				len(p.Events) > 0
		})
	})
	probes := []install.ProbeResult{}
	c, err := app.ConnectDaemon(ctx)
	if err == nil {
		probes = h.TryHooks(ctx, c, agents, app.Environ)
	} else {
		for _, a := range agents {
			probes = append(probes, install.ProbeResult{Agent: a.Name, Error: err.Error()})
		}
	}
	var slowest time.Duration
	answered := 0
	for _, p := range probes {
		if p.Error == "" {
			answered++
			slowest = max(slowest, p.Took)
		}
	}
	if f.asJSON {
		if err := app.PrintJSON(map[string]any{"agents": emptyNotNil(plan.Agents), "notes": emptyNotNil(plan.Notes),
			"probes": probes, "files": plan.Files()}); err != nil {
			return err
		}
	} else {
		sayInstalled(app, plan, probes, slowest)
		if c != nil && plan.Hooked() > 0 {
			offerGuards(ctx, app, c, f.Yes)
		}
	}
	if answered < len(probes) {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

func sayInstalled(app *cmdutil.App, plan *install.Plan, probes []install.ProbeResult, slowest time.Duration) {
	unchanged := 0
	off := map[string]bool{}
	for _, a := range plan.Agents {
		if !a.Changed && len(a.Events) > 0 {
			unchanged++
		}
		if a.Off && len(a.Events) > 0 {
			off[a.Name] = true
		}
		for _, n := range append([]string{a.Pickup}, a.Notes...) {
			if n != "" {
				app.Say("%s: %s", a.Name, termsafe.Text(n))
			}
		}
	}
	working := 0
	for _, p := range probes {
		if p.Error == "" && !off[p.Agent] {
			working++
		}
		if p.Error != "" {
			app.Say("%s: no answer to a probe: %s", p.Agent, termsafe.Line(p.Error, 300))
		}
	}
	hooked := plan.Hooked()
	line := fmt.Sprintf("%d agents hooked", hooked)
	switch hooked {
	case 0:
		app.Say("no agent hooked")
		return
	case 1:
		line = "1 agent hooked"
	}
	if unchanged == hooked {
		line += " already"
	}
	switch {
	case len(off) == hooked:
		line += ", but its settings keep all hooks from running (see above)"
		if hooked > 1 {
			line = strings.Replace(line, "its settings", "their settings", 1)
		}
	case len(off) > 0:
		line += fmt.Sprintf(", %d of them with all hooks switched off (see above)", len(off))
	}
	if len(off) < hooked {
		if tested := hooked - len(off); working == tested && len(off) == 0 {
			line += fmt.Sprintf(" and tested (%s)", slowest.Round(time.Millisecond))
		} else {
			line += fmt.Sprintf(", %d of %d answered a test (%s)", working, tested, slowest.Round(time.Millisecond))
		}
	}
	app.Say("%s; `hookmux uninstall` undoes it", line)
	if len(off) < hooked {
		app.Say("next: start an agent as usual, then run `hookmux` to see what it's doing and answer it")
	}
}
