// Package start starts an agent with hooks for one launch, on this machine: it knows which hooks
// are installed, starts the daemon, and becomes the agent. How a command line is made is up to
// package launch.
//
// Contract: a plan changes nothing. While it is carried out, what the user should know is passed to
// [Starter.PrintNotes], and failures are returned as an [Error] that says of which kind they are;
// which exit code a program makes of it isn't known here.
package start

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Starter is the machine and the surroundings in which agents are started.
type Starter struct {
	Catalogue *agent.Catalogue
	Dirs      paths.Dirs
	DirsError error // why there are no Dirs; agents start all the same
	Environ   []string
	Getenv    func(string) string
	Cwd       string
	Project   string
	Version   string
	Table     proc.Table // nil: the processes above this one aren't known
	// Programs are hookmux itself and the hook client that belongs to it.
	Programs func() (self, hook string, err error)
	// Host is this machine as the installer sees it.
	Host func() (*install.Host, error)
	// PrintNotes shows the user something in addition to the agent's own output.
	PrintNotes func(notes []string)
}

// Kind names the subject of a failure.
type Kind int

// The kinds.
const (
	Usage        Kind = iota // something that was given is wrong
	UnknownAgent             // Text is no agent's name
	NotFound                 // the agent's program is not there
	NotRunnable              // it cannot be run
	Ended                    // the agent ran and ended with a code
)

// Error is why an agent was not started, or how it ended.
type Error struct {
	Kind Kind
	Text string
	Code int // with [Ended]
}

func (e *Error) Error() string { return e.Text }

func usageError(format string, args ...any) error {
	return &Error{Kind: Usage, Text: fmt.Sprintf(format, args...)}
}

// Plan is a start of an agent, worked out.
type Plan struct {
	Agent    *agent.Agent
	Program  string
	Argv     []string
	Injected bool // hooks are given on the command line, or with a folder
	Notes    []string

	active    string
	untrusted bool // it wasn't made to trust anything
	overlay   *launch.Overlay
	env       string // the variable that names the overlay
}

// Plan works out how an agent is started. The name is one of the catalogue's, or
// the path of an agent's program.
func (s *Starter) Plan(name string, args []string, noTrust bool) (*Plan, error) {
	a, program, err := s.findAgent(name)
	if err != nil {
		return nil, err
	}
	// Hooks that are installed run anyway; given here too, each event would
	// come twice. Those that would not run are given.
	there := s.installed(a)
	cannot := launch.Check(a)
	if cannot != nil && !there.Ours {
		return nil, usageError("%v", cannot)
	}
	self, hook, err := s.Programs()
	if err != nil {
		return nil, err
	}
	found, err := launch.Find(launch.Search{
		Agent: a.Name, Program: program, Path: s.Getenv("PATH"), Self: self, Hook: hook, Args: args,
		Active: launch.ParseActive(s.Getenv(launch.ActiveVariable)), Line: s.processLineage(),
	})
	if err != nil {
		return nil, &Error{Kind: NotFound, Text: err.Error()}
	}
	plan := &Plan{Agent: a, Program: found.Program, Argv: append([]string{found.Program}, args...)}
	if there.Ours && !there.Whole {
		plan.Notes = append(plan.Notes, fmt.Sprintf(
			"%s: not all of its installed hooks run (%s); see `hookmux doctor %s`", a.Name, there.Why, a.Name))
	}
	if there.Whole || cannot != nil {
		plan.active = found.Next(plan.Argv)
		return plan, nil
	}
	argv, injected, more, err := launch.Plan(launch.Request{Agent: a, Args: args, Program: found.Program, Hook: hook,
		Running: there.Events, Untrusted: noTrust, Config: s.agentConfig(a)})
	if err != nil {
		return nil, usageError("%v", err)
	}
	plan.Notes = append(plan.Notes, more...)
	plan.Injected, plan.untrusted = injected, noTrust
	if over := s.planOverlay(a, found.Program); injected && !noTrust && over != nil {
		plan.Notes = append(plan.Notes, fmt.Sprintf("this %s takes no hooks on its command line, so it runs with %s "+
			"as its folder; what it writes is brought back to %s", a.Title, over.Dir, over.User))
		plan.untrusted, plan.overlay, plan.env = true, over, a.Launch.Overlay.Env
	} else {
		plan.Argv = argv
	}
	plan.active = found.Next(plan.Argv)
	return plan, nil
}

// installed returns what of an agent's installed hooks would run.
func (s *Starter) installed(a *agent.Agent) install.Delivery {
	if s.DirsError != nil || a.Install == nil {
		return install.Delivery{}
	}
	h := install.Host{Dirs: s.Dirs, Project: s.Project, Getenv: s.Getenv, Version: s.Version}
	return h.Delivery(a)
}

// agentConfig returns an agent's own config file, if it is TOML.
func (s *Starter) agentConfig(a *agent.Agent) string {
	if s.DirsError != nil {
		return ""
	}
	for _, f := range a.Files {
		if f.Scope == install.User && f.Format == "toml" {
			return f.Resolve(s.Dirs.Home, "", s.Getenv)
		}
	}
	return ""
}

// findAgent finds an agent by its name, or by the path of its program.
func (s *Starter) findAgent(name string) (*agent.Agent, string, error) {
	known := func() string { return strings.Join(launch.Can(s.Catalogue.Agents()), ", ") }
	if strings.ContainsRune(name, filepath.Separator) {
		base := filepath.Base(name)
		for _, a := range s.Catalogue.Agents() {
			if a.Launch.Program == base {
				return a, name, nil
			}
		}
		if a, ok := s.Catalogue.Agent(base); ok {
			return a, name, nil
		}
		if _, err := os.Stat(name); err != nil {
			return nil, "", usageError("there's no program at %s", name)
		}
		return nil, "", usageError("no agent's program is called %s; `hookmux run` can start %s", base, known())
	}
	a, ok := s.Catalogue.Agent(name)
	if !ok {
		return nil, "", &Error{Kind: UnknownAgent, Text: name}
	}
	return a, a.Launch.Program, nil
}

// processLineage is this process and those above it.
func (s *Starter) processLineage() []int {
	pids := []int{os.Getpid()}
	if s.Table == nil {
		return append(pids, os.Getppid())
	}
	for _, p := range proc.Ancestry(s.Table, os.Getpid(), 64) {
		if !slices.Contains(pids, p.PID) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
