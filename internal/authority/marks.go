package authority

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Marks is how one agent is recognised. All of it is catalogue data.
type Marks struct {
	Agent string
	// Programs are names of its processes: what a process calls itself, the
	// base name of the file it runs, or of the script its interpreter runs.
	// A trailing * matches any rest.
	Programs []string
	// Paths are fragments of the path of its program or script, for programs
	// with names that say nothing ("/acme/versions/", "/@acme/cli/").
	Paths []string
	// Env are variables that only this agent sets, as NAME (any value but
	// the empty one) or NAME=VALUE.
	Env []string
}

// AgentMarks are all agents of the catalogue. Where two fit, the first wins,
// so a fork that keeps its parent's marks belongs before the parent.
type AgentMarks []Marks

// kernelNameLimit is how much of a name Linux keeps.
const kernelNameLimit = 15

// match names the agent that p is, "" for none. Where several fit, preferred
// wins if it is one of them. Cheap clues come first: most processes are
// settled without reading their arguments.
func (marks AgentMarks) match(t proc.Table, p proc.Process, preferred string) string {
	program, _ := t.Program(p.PID)
	program = strings.TrimSuffix(program, deletedSuffix)
	base := path.Base(program)
	script := ""
	if isInterpreter(base) || program == "" && isInterpreter(p.Name) {
		args, _ := t.Args(p.PID)
		script = scriptOf(args)
	}
	found := ""
	for _, m := range marks {
		if found != "" && m.Agent != preferred {
			continue
		}
		if m.fits(p.Name, program, base, script) {
			found = m.Agent
			if preferred == "" || found == preferred {
				break
			}
		}
	}
	return found
}

func (m Marks) fits(name, program, base, script string) bool {
	for _, want := range m.Programs {
		if nameIs(name, want, kernelNameLimit) || program != "" && nameIs(base, want, 0) || script != "" && scriptIs(script, want) {
			return true
		}
	}
	for _, fragment := range m.Paths {
		if fragment != "" && (strings.Contains(program, fragment) || strings.Contains(script, fragment)) {
			return true
		}
	}
	return false
}

// nameIs compares a name with a wanted one, which may be cut by the kernel.
func nameIs(name, want string, limit int) bool {
	if prefix, ok := strings.CutSuffix(want, "*"); ok {
		return prefix != "" && strings.HasPrefix(name, prefix)
	}
	if limit > 0 && len(want) > limit {
		return name == want || name == want[:limit]
	}
	return name != "" && name == want
}

func scriptIs(script, want string) bool {
	base := path.Base(script)
	return nameIs(base, want, 0) || nameIs(strings.TrimSuffix(base, path.Ext(base)), want, 0)
}

// inEnviron names the first agent whose variable is set, and the variable.
func (marks AgentMarks) inEnviron(env []string) (agent, variable string) {
	if len(env) == 0 {
		return "", ""
	}
	for _, m := range marks {
		for _, want := range m.Env {
			name, value, exact := strings.Cut(want, "=")
			for _, entry := range env {
				has, v, ok := strings.Cut(entry, "=")
				if ok && name != "" && has == name && v != "" && (!exact || v == value) {
					return m.Agent, name
				}
			}
		}
	}
	return "", ""
}

var interpreters = []string{"node", "nodejs", "bun", "deno", "electron", "ruby", "perl", "java", "pypy", "pypy3", "uv"}

func isInterpreter(base string) bool {
	return slices.Contains(interpreters, base) || strings.HasPrefix(base, "python") || strings.HasPrefix(base, "Python")
}

// Options of interpreters whose value is the next argument, and options
// after which there is no script at all.
var (
	withValue   = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file", "--preload", "--config", "--cwd", "-X", "-W"}
	withoutFile = []string{"-e", "--eval", "-p", "--print", "-c"}
)

// scriptOf finds what an interpreter runs in its argument list.
func scriptOf(args []string) string {
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case slices.Contains(withValue, a):
			i++
		case slices.Contains(withoutFile, a):
			return ""
		case a == "-m" || a == "-jar":
			if i+1 < len(args) {
				return args[i+1]
			}
			return ""
		case a == "run" && i == 1: // bun run FILE, deno run FILE
		case strings.HasPrefix(a, "-"):
		default:
			return a
		}
	}
	return ""
}
