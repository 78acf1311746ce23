// Package launch gives an agent its hooks for one launch, with no file edited:
// `hookmux run AGENT …`.
//
// Plan turns the command line the user wrote into the one that is run. It is pure: what it
// needs to read comes through the request. Its promises: the user's arguments keep their
// order and bytes, except a value that hooks had to be folded into; a command that runs no
// session is left alone entirely; planning a command line that was planned before changes
// nothing, so that a shim which comes back to hookmux doesn't register hooks twice; and if
// hooks and the user's own settings can't both be kept it fails and says so.
//
// Find picks the program on PATH and avoids loops with other shims, Exec replaces this process
// by it: nothing stays in between, so exit code, signals and terminal are the agent's own.
//
// How an agent takes hooks is named by its catalogue entry (launch.inject) and done by one of
// the ways in this package; which words and flags mean what is also in the catalogue.
package launch

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookmux/hookmux/agent"
)

// Request is the input of Plan.
type Request struct {
	Agent   *agent.Agent
	Args    []string // the agent's arguments, as the user wrote them
	Program string   // the agent's program; becomes argv[0]
	Hook    string   // absolute path of hookmux-hook
	// Running are events that an installed hook reports already: they are not
	// given a second time.
	Running []string
	// Untrusted says that the user does not want our hooks trusted: then
	// agents that ask for trust get what works without.
	Untrusted bool
	// Config is the agent's own config file, to see what the user set.
	Config string
	// ReadFile reads a settings file that the arguments name; nil means os.ReadFile.
	ReadFile func(string) ([]byte, error)
}

// way is one way of passing hooks to an agent. It gets the scanned arguments and returns new ones;
// injected false means that hooks wouldn't run anyway.
type way struct {
	inject func(r *Request, s *scanned) (args []string, injected bool, notes []string, err error)
	// once returns the notice that is shown to you the first time.
	once func(a *agent.Agent) string
}

func launchWays() map[string]way {
	return map[string]way{
		"settings-flag":   {inject: injectSettings},
		"codex-overrides": {inject: injectOverrides, once: trustNotice},
	}
}

// Plan works out what to run. Notes are for the user, one line each.
func Plan(r Request) (argv []string, injected bool, notes []string, err error) {
	w, ok := launchWays()[r.Agent.Launch.Inject]
	if !ok {
		return nil, false, nil, explainNoHooks(r.Agent)
	}
	if r.ReadFile == nil {
		r.ReadFile = os.ReadFile
	}
	s := scanOptions(r.Agent.Launch, r.Args)
	if s.runsNoSession(r.Agent.Launch) {
		return commandLine(r.Program, r.Args), false, nil, nil
	}
	if !utf8.ValidString(r.Hook) {
		return nil, false, nil, fmt.Errorf("%q: the path of hookmux-hook is not valid UTF-8 and no agent could be "+
			"told it; install it elsewhere", r.Hook)
	}
	args, injected, notes, err := w.inject(&r, s)
	if err != nil {
		return nil, false, nil, err
	}
	for _, arg := range args {
		if len(arg) > maxArgument {
			return nil, false, nil, fmt.Errorf("%s: its settings together with the hooks are %d bytes, more than a "+
				"command line can carry (%d); move them into one of its settings files", r.Agent.Name, len(arg),
				maxArgument)
		}
	}
	return commandLine(r.Program, args), injected, notes, nil
}

// maxArgument is how long one argument may be on Linux, its NUL left out.
const maxArgument = 128<<10 - 1

func commandLine(program string, args []string) []string {
	return append(append(make([]string, 0, 1+len(args)), program), args...)
}

// OnceNotice returns what you should know the first time an agent gets its hooks this way;
// empty if there is nothing to say.
func OnceNotice(a *agent.Agent) string {
	if w := launchWays()[a.Launch.Inject]; w.once != nil {
		return w.once(a)
	}
	return ""
}

// Can lists the agents of a catalogue that take hooks for one launch.
func Can(all []*agent.Agent) []string {
	var names []string
	for _, a := range all {
		if _, ok := launchWays()[a.Launch.Inject]; ok {
			names = append(names, a.Name)
		}
	}
	sort.Strings(names)
	return names
}

// Check reports whether an agent can get hooks for one launch at all, so that a caller can stop
// before it looks for programs.
func Check(a *agent.Agent) error {
	if _, ok := launchWays()[a.Launch.Inject]; ok {
		return nil
	}
	return explainNoHooks(a)
}

// explainNoHooks explains what remains possible for an agent that takes no hooks at launch.
func explainNoHooks(a *agent.Agent) error {
	if a.Install != nil {
		return fmt.Errorf("%s can't load hooks for a single launch; run `hookmux install %s` once, then start it as usual",
			a.Name, a.Name)
	}
	for _, f := range a.Files {
		if !f.GuardOnly && f.Path != "" {
			return fmt.Errorf("%s can't load hooks for a single launch; register `hookmux-hook %s EVENT` in %s, then "+
				"start it as usual", a.Name, a.Name, f.Path)
		}
	}
	return fmt.Errorf("%s can't load hooks for a single launch; register `hookmux-hook %s EVENT` where it keeps its "+
		"hooks, then start it as usual", a.Name, a.Name)
}

// registration is one event to register for.
type registration struct {
	event   string
	seconds int // the limit that is written down, and passed to the hook
}

// defaultRegistrations returns the events that are installed by default and don't arrive anyway.
// Limits are whole seconds: some agents take nothing else, and the hook must never assume more time
// than the agent allows.
func (r *Request) defaultRegistrations() []registration {
	a := r.Agent
	var out []registration
	for _, e := range a.Events {
		if e.Install != agent.InstallDefault || slices.Contains(r.Running, e.Name) {
			continue
		}
		limit := a.InstallTimeout(e.Name)
		if most := time.Duration(e.MaxTimeout); most > 0 {
			limit = min(limit, most)
		}
		out = append(out, registration{e.Name, max(1, int(limit/time.Second))})
	}
	return out
}

// oneLine keeps a text from somewhere else on the line of an error message.
func oneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
