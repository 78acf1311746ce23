package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Level is how much a finding matters.
type Level string

// The levels.
const (
	Good Level = "good"
	Note Level = "note" // worth knowing
	Bad  Level = "bad"
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Agent string `json:"agent"` // hookmux itself: "hookmux"
	Check string `json:"check"`
	Level Level  `json:"level"`
	What  string `json:"what"`
	Fix   string `json:"fix,omitempty"` // what fixes it, a command if there is one

	// repair plans the fix; trust says whether an agent may be made to trust our hooks on the
	// way.
	repair func(trust bool) (*Plan, error)
}

// Names of checks that [Finding.WritesOtherwise] asks for.
const (
	checkIntact    = "intact"
	checkNewEvents = "new events"
)

// WritesOtherwise reports whether it is about hooks that this version writes otherwise.
func (f *Finding) WritesOtherwise() bool { return f.Check == checkIntact || f.Check == checkNewEvents }

// Fixable reports whether [Doctor.Fix] does something about it.
func (f *Finding) Fixable() bool { return f.repair != nil }

// Doctor looks at agents and proves what it can.
type Doctor struct {
	Host        *Host
	All         []*agent.Agent
	Daemon      *client.Client // nil: none could be reached, DaemonError says why
	DaemonError error
	// Hooks asks an agent which hooks it sees, for agents that can be asked.
	Hooks func(a *agent.Agent, cwd string) ([]ListedHook, error)
	// Plugins runs an agent's program, which prints the plugins it loaded.
	Plugins func(a *agent.Agent, args []string) (string, error)

	// Said is what you should know about what was fixed.
	Said []string

	found []Finding
}

func (d *Doctor) addFinding(agentName, check string, level Level, fix, format string, args ...any) {
	home := d.Host.Dirs.Home
	d.found = append(d.found, Finding{Agent: agentName, Check: check, Level: level,
		What: paths.Shorten(home, fmt.Sprintf(format, args...)), Fix: paths.Shorten(home, fix)})
}

// setRepair sets how the last finding is fixed.
func (d *Doctor) setRepair(plan func(trust bool) (*Plan, error)) {
	d.found[len(d.found)-1].repair = plan
}

// Examine looks at hookmux's own parts and at each agent. Named says that the
// agents were asked for: then one without hooks is wrong.
func (d *Doctor) Examine(ctx context.Context, agents []*agent.Agent, named bool) []Finding {
	d.found = nil
	d.checkShim(agents)
	if d.Daemon == nil {
		d.addFinding("hookmux", "daemon", Bad, "hookmux daemon start", "can't reach the daemon: %v", d.DaemonError)
	} else if info, err := d.Daemon.Info(ctx); err != nil {
		d.addFinding("hookmux", "daemon", Bad, "hookmux daemon start", "the daemon doesn't answer: %v", err)
	} else {
		d.addFinding("hookmux", "daemon", Good, "", "the daemon answers (version %s, pid %d)", info.Version, info.PID)
		if info.Version != d.Host.Version {
			d.addFinding("hookmux", "daemon", Note, "hookmux daemon stop", "the daemon is of version %s, this is %s",
				info.Version, d.Host.Version)
		}
		if info.Off != nil {
			d.addFinding("hookmux", "off", Bad, "hookmux on", "hookmux is switched off, so nothing is decided")
		}
		d.checkPlaces(ctx, agents)
		d.checkTelemetry(ctx)
	}
	d.checkLeftovers()
	d.checkStateFiles()
	for _, a := range agents {
		d.checkAgent(ctx, a, named)
	}
	return d.found
}

func (d *Doctor) anyInstalled(agents []*agent.Agent) bool {
	return slices.ContainsFunc(agents, func(a *agent.Agent) bool {
		return slices.ContainsFunc(d.Host.ReadSites(a), func(s Site) bool { return s.Ours > 0 })
	})
}

func (d *Doctor) checkShim(agents []*agent.Agent) {
	h := d.Host
	shim := Shim(h.Dirs)
	to, linked := h.onDisk().readlink(shim)
	there := linked || h.onDisk().exists(shim)
	target := ShimTarget{Hook: h.Hook, Copied: h.Copied}
	outdated := target.Outdated(h.Dirs)
	switch {
	case !there && !d.anyInstalled(agents):
		return // nothing is installed, nothing is needed
	case !there:
		d.addFinding("hookmux", "shim", Bad, "hookmux doctor --fix", "%s: the program that agents run is missing", shim)
	case linked && !h.onDisk().runnable(shim):
		d.addFinding("hookmux", "shim", Bad, "hookmux doctor --fix", "%s: points to %s, which can't be run", shim, to)
	case !h.onDisk().runnable(shim):
		d.addFinding("hookmux", "shim", Bad, "hookmux doctor --fix", "%s: cannot be run", shim)
	case linked && h.Hook == shim:
		d.addFinding("hookmux", "shim", Note, "hookmux doctor --fix",
			"%s: leads to %s, and should be a copy of %s, which can be moved, cleaned or written to", shim, to, h.Copied)
	case !paths.SameFile(shim, h.Hook) && linked:
		d.addFinding("hookmux", "shim", Note, "hookmux doctor --fix", "%s: leads to %s, not to this hookmux's own (%s)",
			shim, to, h.Hook)
	case !paths.SameFile(shim, h.Hook):
		d.addFinding("hookmux", "shim", Note, "hookmux doctor --fix", "%s: is a copy, not this hookmux's own (%s)",
			shim, h.Hook)
	case outdated != "":
		d.addFinding("hookmux", "shim", Note, "hookmux install", "%s", outdated)
	case linked:
		d.addFinding("hookmux", "shim", Good, "", "%s leads to %s", paths.Shorten(h.Dirs.Home, shim), to)
		return
	default:
		d.addFinding("hookmux", "shim", Good, "", "%s is a safe copy of hookmux",
			paths.Shorten(h.Dirs.Home, shim))
		return
	}
	d.setRepair(func(bool) (*Plan, error) {
		return &Plan{host: h, manifest: &Manifest{}, Steps: target.Steps(h.Dirs, to)}, nil
	})
}

func (d *Doctor) checkAgent(ctx context.Context, a *agent.Agent, named bool) {
	h := d.Host
	if a.Install == nil {
		d.addFinding(a.Name, "present", Note, "", "takes no hooks of hookmux: %s", a.NotInstalled)
		return
	}
	reinstall := "hookmux install " + a.Name
	sites := h.ReadSites(a)
	ours, counted := 0, false
	before := len(d.found)
	for _, s := range sites {
		short := paths.Shorten(h.Dirs.Home, s.Path)
		if s.Err != nil {
			d.addFinding(a.Name, "parses", Bad, "correct the file by hand", "%s: %v", short, s.Err)
			continue
		}
		for _, what := range s.Damaged {
			d.addFinding(a.Name, "intact", Bad, "take it out by hand, then "+reinstall,
				"%s: %s: names hookmux and is not as it was written", short, what)
		}
		if s.Ours == 0 {
			continue
		}
		ours += s.Ours
		d.checkSite(a, s, short, reinstall)
		counted = counted || !s.Shadowed
	}
	switch {
	case ours == 0 && d.reportRemoved(a, sites):
		return
	case ours == 0 && named:
		d.addFinding(a.Name, "present", Bad, reinstall, "no hooks of hookmux are in its config")
		return
	case ours == 0:
		d.addFinding(a.Name, "present", Note, reinstall, "installed, but not hooked")
		return
	}
	for _, s := range h.ForeignHooks(a, "") {
		d.addFinding(a.Name, "foreign", Note, "", "%s: %s also has a hook here", paths.Shorten(h.Dirs.Home, s.Path),
			s.What)
	}
	d.checkSwitches(a)
	d.checkMods(a)
	d.checkLoaded(a)
	if permit := a.Install.Permit; permit != "" {
		d.addFinding(a.Name, "permit", Note, "", "%s", permit)
	}
	d.checkFolderTrust(a)
	d.askAgentForHooks(a, sites)
	d.checkDeadTrust(a)
	d.checkStaleSwitch(a)
	d.checkPluginFolders(a)
	d.checkSharedHooks(a, sites)
	healthy := !slices.ContainsFunc(d.found[before:], func(f Finding) bool { return f.Level == Bad })
	if counted && d.Daemon != nil {
		d.runProbe(ctx, a)
		d.checkArrivals(ctx, a, healthy)
	}
}

// reportRemoved reports hooks that something other than hookmux removed from an agent that
// has none left.
func (d *Doctor) reportRemoved(a *agent.Agent, sites []Site) bool {
	h := d.Host
	removed := h.Removed(a)
	for i := range removed {
		r := &removed[i]
		if r.Err != nil && slices.ContainsFunc(sites, func(s Site) bool { return s.Path == r.Path }) {
			continue // already reported: the file can't be read
		}
		d.addFinding(a.Name, "removed", Bad, r.Fix(h.Dirs.Home), "%s", r.What(h.Dirs.Home))
	}
	return len(removed) > 0
}

// Trusts returns the agents that a fix would make trust our hooks: that decision belongs to
// the owner of the machine.
func (d *Doctor) Trusts(findings []Finding) []*agent.Agent {
	var out []*agent.Agent
	for _, f := range findings {
		if f.repair == nil {
			continue
		}
		plan, err := f.repair(true)
		if err != nil {
			continue // reported when it is done
		}
		for _, s := range plan.Steps {
			if s.Op == OpTrust && s.OwnHooks != nil && !slices.Contains(out, s.OwnHooks.Agent) {
				out = append(out, s.OwnHooks.Agent)
			}
		}
	}
	return out
}

// Fix applies the fixes that findings offer, and reports whether there were any. An agent is
// made to trust our hooks only if the user agreed.
func (d *Doctor) Fix(findings []Finding, trust func(agentName string) bool, e Editor) (bool, error) {
	done := false
	for _, f := range findings {
		if f.repair == nil {
			continue
		}
		plan, err := d.Host.ApplyPlan(func() (*Plan, error) { return f.repair(trust(f.Agent)) }, nil, e)
		if err != nil {
			return done, err
		}
		done = done || len(plan.Steps) > 0
		d.Said = append(d.Said, plan.Notes...)
	}
	return done, nil
}
