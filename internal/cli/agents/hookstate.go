package agents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/version"
)

// HookState is the state of an agent on this machine: whether hookmux's hooks are in its
// config, and what keeps them from running.
type HookState struct {
	Agent   string `json:"agent"`
	Program string `json:"program,omitempty"`
	Hooked  bool   `json:"hooked"`
	Events  int    `json:"events"` // whose hooks run
	Wrong   string `json:"wrong,omitempty"`
	// Removed says that something other than hookmux removed hooks; Fix names the commands
	// that put them back or leave them out for good.
	Removed bool   `json:"removed,omitempty"`
	Fix     string `json:"fix,omitempty"`
	// Lifted says by what code inside the agent can lift what hookmux denies; Mods is
	// what loads such code.
	Lifted string   `json:"lifted,omitempty"`
	Mods   []string `json:"mods,omitempty"`
	// Version is the output of a hooked agent's --version, Tried the version that was
	// tested, Beyond how Version lies outside of the tested ones, so that it isn't
	// verified.
	Version string `json:"version,omitempty"`
	Tried   string `json:"tried,omitempty"`
	Beyond  string `json:"beyond,omitempty"`
}

// HowMany says how many hooks of an agent run if something is wrong with them.
func (s *HookState) HowMany() string {
	if s.Events == 0 {
		return "none"
	}
	return "not all"
}

// HookStates looks at the agents of this machine. Files are read, and programs of
// hooked agents that changed are asked for their version.
func HookStates(app *cmdutil.App) ([]HookState, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	h := install.Host{Dirs: dirs, Project: ProjectFolder(app.Cwd()), Getenv: app.Getenv, Version: version.String}
	list := []HookState{}
	var hooked []*agent.Agent
	for _, found := range h.Find(catalogue.Agents()) {
		d := h.Delivery(found.Agent)
		list = append(list, HookState{
			Agent: found.Agent.Name, Program: found.Program, Hooked: d.Ours, Events: len(d.Events), Wrong: d.Why,
		})
		if len(d.Removed) > 0 {
			s := &list[len(list)-1]
			s.Removed, s.Fix = true, d.Removed[0].Fix(dirs.Home)
		}
		if d.Ours {
			hooked = append(hooked, found.Agent)
			mods := h.Mods(found.Agent)
			s := &list[len(list)-1]
			s.Lifted, s.Mods = mods.LiftNote(found.Agent.Title), mods.Loads
		}
	}
	versions := installedVersions(app, hooked)
	for i := range list {
		s := &list[i]
		if a, _ := catalogue.Agent(s.Agent); s.Hooked && a != nil {
			s.Version, s.Tried, s.Beyond = versions[s.Agent], a.Tried, beyondProof(a, versions[s.Agent])
		}
	}
	return list, nil
}

// Problem returns the problem that not all of the agent's hooks run, or nil if they do.
func (s *HookState) Problem() *client.Problem {
	if s.Wrong == "" {
		return nil
	}
	p := client.Problem{Key: hooksKey + s.Agent, What: s.Agent + ": " + s.HowMany() + " of its hooks run: " + s.Wrong,
		Fix: "hookmux doctor " + s.Agent}
	if s.Removed {
		p.Fix = s.Fix
	}
	return &p
}

// hooksKey is the prefix of the keys of problems with an agent's hooks.
const hooksKey = "hooks."

// WithoutHooks returns the daemon's problems except those with the hooks of agents that
// this command has checked itself.
func WithoutHooks(problems []client.Problem, states []HookState) []client.Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p client.Problem) bool {
		return slices.ContainsFunc(states, func(s HookState) bool { return p.Key == hooksKey+s.Agent })
	})
}

// WatchRemoved returns a function that lists hooks removed by something other than hookmux,
// as problems. It must be called from a single goroutine.
func WatchRemoved(dirs paths.Dirs, getenv func(string) string) func(*agent.Catalogue) []client.Problem {
	watch := install.RemovalWatch{Host: &install.Host{Dirs: dirs, Project: dirs.Home, Getenv: getenv, Version: version.String}}
	return func(c *agent.Catalogue) []client.Problem {
		watch.Agents = c.Agents()
		var list []client.Problem
		for _, r := range watch.Look() {
			what := r.Agent + ": " + r.What(dirs.Home)
			if n := len(list); n > 0 && list[n-1].Key == hooksKey+r.Agent {
				list[n-1].What += "; " + r.What(dirs.Home)
				continue
			}
			list = append(list, client.Problem{Key: hooksKey + r.Agent, What: what, Fix: r.Fix(dirs.Home)})
		}
		return list
	}
}

// CopyProblem says that agents run copies which are not this hookmux.
func CopyProblem(app *cmdutil.App) []client.Problem {
	dirs, err := app.Dirs()
	if err != nil {
		return nil
	}
	_, hook, err := OwnPrograms()
	if err != nil {
		return nil
	}
	what := install.NewShimTarget(dirs, hook).Outdated(dirs)
	if what == "" {
		return nil
	}
	return []client.Problem{{Key: "copy", What: what, Fix: "hookmux install"}}
}

// beyondProof says in what way a version is outside of those that are known; empty if it
// isn't.
func beyondProof(a *agent.Agent, version string) string {
	switch {
	case a.OnlyDocumented(version) != "":
		return a.OnlyDocumented(version) + " (`hookmux doctor` asks it)"
	case a.NewerThanTried(version):
		return fmt.Sprintf("%s %s is untested (%s was tested)", a.Title, version, a.Tried)
	case a.OlderThanHooks(version):
		return fmt.Sprintf("%s %s is older than the first version with these hooks (%s)", a.Title, version, a.Since)
	}
	return ""
}

// askItself returns the command that tests on this machine whether what is known about an
// agent holds; empty for one that can't be tested.
func askItself(name string) string {
	if !recordings.Has(name) {
		return ""
	}
	return "hookmux verify " + name
}

// VersionNotes returns lines about agents whose version wasn't verified.
func VersionNotes(list []HookState) []string {
	var lines []string
	for _, s := range list {
		if s.Beyond == "" {
			continue
		}
		line := s.Beyond
		if command := askItself(s.Agent); command != "" {
			line += "; to test yours, run `" + command + "`"
		}
		lines = append(lines, line)
	}
	return lines
}

// DescribeHookStates says in a few words which agents are hooked.
func DescribeHookStates(list []HookState) string {
	var hooked, silent, wrong, removed, bare []string
	for _, s := range list {
		switch {
		case s.Removed && !s.Hooked:
			removed = append(removed, s.Agent)
		case s.Wrong != "" && s.Events == 0:
			silent = append(silent, s.Agent)
		case s.Wrong != "":
			wrong = append(wrong, s.Agent)
		case s.Hooked:
			hooked = append(hooked, s.Agent)
		default:
			bare = append(bare, s.Agent)
		}
	}
	var parts []string
	add := func(names []string, what string) {
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.Join(names, ", "), what))
		}
	}
	add(hooked, "hooked")
	add(wrong, "hooked, but not all hooks run")
	add(silent, "hooked, but no hooks run")
	add(removed, "no longer hooked")
	add(bare, "not hooked")
	if len(parts) == 0 {
		return "no agent was found"
	}
	return strings.Join(parts, " · ")
}
