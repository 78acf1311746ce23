// Package realagents installs real coding agents, at pinned versions, from the npm registry into a
// cache folder and prepares throw-away homes in which they run offline against a scripted model.
//
// Contract: everything about one agent is one entry of a table; the functions know no agent by name.
// Install only talks to the npm registry configured on this machine and runs no package scripts.
// WriteHome writes only below the given home and returns a complete environment (only PATH is
// inherited from the caller), with proxies on a dead port in addition to the agents' own offline
// switches: the agent reaches loopback and nothing else. A network namespace would be stricter, but
// then the model server would have to be in it too; a driver may still wrap Installed.Argv in one.
package realagents

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/realagents/model"
)

// Agent is one entry of the table. Strings may hold {version}, {os} (linux,
// darwin), {cpu} (x64, arm64), {arch} (x64, aarch64) and {triple} (the Rust name
// of the platform).
type Agent struct {
	Name    string
	Title   string
	Version string
	// Packages are the npm specs to install, PlatformPackages the ones to use
	// instead of them on a platform ("linux/amd64").
	Packages         []string
	PlatformPackages map[string][]string
	// Bundle is the npm spec of a package that holds all its program needs but Packages. It
	// is unpacked as it is: not all of what it names as dependencies is published.
	Bundle string
	// Program is the file to run, below the install folder; Brotli the packed
	// file it has to be unpacked from, if the package ships one.
	Program string
	Brotli  string
	// Node says that Program is JavaScript and runs on the pinned Node.
	Node bool
	// NewNode says that this must be the newer one of the two that are pinned.
	NewNode bool
	// Runtime is the program, below the install folder, that runs Program, if that is JavaScript for
	// something other than Node.
	Runtime string
	// Host is the program in hosts/ that is started instead of Program, if the
	// vendor publishes its agent as a library.
	Host string
	// Platforms are those the vendor publishes for, Proven those on which this
	// entry was really installed and run.
	Platforms []string
	Proven    []string
	// Large says that it takes more than LargeFrom when installed: it is asked by
	// name and by `make verify-all`, never at random.
	Large bool
	// Prints is the output of `--version`, when it isn't Version itself.
	Prints string

	// API is the model API the throw-away home makes it use.
	API string
	// ModelDelay is the time the model must wait before answering, for agents that
	// lose events when it is instant.
	ModelDelay time.Duration
	// Shell is its tool for running a command.
	Shell ShellTool

	// Leftover describes what it leaves outside of its home; nil: nothing.
	Leftover *Leftover

	headless func(prompt string) []string
	home     func(h *homeWriter)
}

// LargeFrom is how many bytes an installed agent takes that is Large.
const LargeFrom = 1 << 30

// ShellTool is how a model asks this agent to run a command.
type ShellTool struct {
	Name  string
	Arg   string         // the argument that holds the command
	List  bool           // that argument is a list of commands
	Extra map[string]any // further required arguments
}

// Call returns the tool call for a command.
func (s ShellTool) Call(command string) model.ToolCall {
	in := map[string]any{s.Arg: command}
	if s.List {
		in[s.Arg] = []string{command}
	}
	for k, v := range s.Extra {
		in[k] = v
	}
	return model.Call(s.Name, in)
}

// Find looks an agent up by name.
func Find(name string) (Agent, bool) {
	for _, a := range table {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// Names lists all agents of the table, sorted.
func Names() []string {
	var out []string
	for _, a := range table {
		out = append(out, a.Name)
	}
	sort.Strings(out)
	return out
}

func mustKnow(name string) (Agent, error) {
	a, ok := Find(name)
	if !ok {
		return a, fmt.Errorf("%s: no such agent; known are %s", name, strings.Join(Names(), " "))
	}
	return a, nil
}

// Headless returns the arguments that make an agent work on one prompt without
// a terminal, free to use its tools: the commands come from our own script. Nil
// for an unknown agent.
func Headless(name, prompt string) []string {
	a, ok := Find(name)
	if !ok {
		return nil
	}
	return a.headless(prompt)
}

// here returns this machine's platform, in Go's notation.
func here() string { return runtime.GOOS + "/" + runtime.GOARCH }

// expand fills in a template for a platform.
func (a Agent) expand(s, platform string) string {
	goos, arch, _ := strings.Cut(platform, "/")
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[arch]
	machine := map[string]string{"amd64": "x64", "arm64": "aarch64"}[arch]
	triple := map[string]string{
		"linux/amd64": "x86_64-unknown-linux-musl", "linux/arm64": "aarch64-unknown-linux-musl",
		"darwin/amd64": "x86_64-apple-darwin", "darwin/arm64": "aarch64-apple-darwin",
	}[platform]
	return strings.NewReplacer("{version}", a.Version, "{os}", goos, "{cpu}", cpu, "{arch}", machine,
		"{triple}", triple).Replace(s)
}

// npmPackages returns the npm specs for a platform.
func (a Agent) npmPackages(platform string) []string {
	list := a.Packages
	if p, ok := a.PlatformPackages[platform]; ok {
		list = p
	}
	var out []string
	for _, s := range list {
		out = append(out, a.expand(s, platform))
	}
	return out
}

// Specs returns the npm packages, with their versions, that are installed here.
func (a Agent) Specs() []string {
	specs := a.npmPackages(here())
	if a.Bundle != "" {
		specs = append(specs, a.expand(a.Bundle, here()))
	}
	return specs
}

// Package returns the npm package that carries the agent's version; empty: none does.
func (a Agent) Package() string {
	for _, spec := range a.Specs() {
		if name, ok := strings.CutSuffix(spec, "@"+a.Version); ok {
			return name
		}
	}
	return ""
}

// PublishedHere reports whether the vendor publishes for this machine's platform.
func (a Agent) PublishedHere() bool { return a.supportsPlatform(here()) }

// supportsPlatform reports whether the vendor publishes for a platform.
func (a Agent) supportsPlatform(platform string) bool {
	for _, p := range a.Platforms {
		if p == platform {
			return true
		}
	}
	return false
}

func (a Agent) cacheFolder() string { return a.Name + "-" + a.Version }
