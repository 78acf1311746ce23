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
	read := func() []string { args, _ := t.Args(p.PID); return args }
	return marks.matchProgram(p.Name, program, read, preferred)
}

// matchProcess is match for a process whose facts were read already.
func (marks AgentMarks) matchProcess(p Process, preferred string) string {
	return marks.matchProgram(p.Name, p.Program, func() []string { return p.Args }, preferred)
}

func (marks AgentMarks) matchProgram(name, program string, args func() []string, preferred string) string {
	program = strings.TrimSuffix(program, deletedSuffix)
	base := path.Base(program)
	var scripts []string
	if isInterpreter(base) || program == "" && isInterpreter(name) {
		scripts = scriptsOf(args())
	}
	found := ""
	for _, m := range marks {
		if found != "" && m.Agent != preferred {
			continue
		}
		if m.fits(name, program, base, scripts) {
			found = m.Agent
			if preferred == "" || found == preferred {
				break
			}
		}
	}
	return found
}

func (m Marks) fits(name, program, base string, scripts []string) bool {
	for _, want := range m.Programs {
		if nameIs(name, want, kernelNameLimit) || program != "" && nameIs(base, want, 0) {
			return true
		}
		if slices.ContainsFunc(scripts, func(script string) bool { return scriptIs(script, want) }) {
			return true
		}
	}
	for _, fragment := range m.Paths {
		if fragment == "" {
			continue
		}
		if strings.Contains(program, fragment) || slices.ContainsFunc(scripts,
			func(s string) bool { return strings.Contains(s, fragment) }) {
			return true
		}
	}
	return false
}

// nameIs compares a name with a wanted one, which the kernel may have cut at limit; 0 for a name that is whole.
func nameIs(name, want string, limit int) bool {
	if prefix, ok := strings.CutSuffix(want, "*"); ok {
		return prefix != "" && strings.HasPrefix(name, prefix)
	}
	return name != "" && (name == want || name == want[:min(limit, len(want))])
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

// Options after which there is no script, and those that name a module.
var (
	withoutFile = []string{"-e", "--eval", "-p", "--print", "-pe", "-c"}
	namesModule = []string{"-m", "-jar"}
	// standAlone never take a value; the word behind them is the script.
	standAlone = []string{
		"--no-warnings", "--expose-gc", "--enable-source-maps", "--trace-warnings", "--inspect", "--inspect-brk",
		"--watch", "--smol",
		"--bun", "--silent", "--allow-all", "-A", "-q", "-u", "-B", "-E", "-I", "-s", "-S", "-O", "-OO", "-w", "-x",
	}
)

// Words that may precede the script: bun run FILE, deno run FILE.
var leadingWords = []string{"run", "exec", "x", "tool"}

// scriptsOf lists what an interpreter may be running, by its argument list. An option may
// take its value from the next argument, and no list of such options is ever complete: so
// after an option without "=" the next word may be its value or the script, and the word
// after it, too. All of them are returned; what follows the first word that no option
// precedes belongs to the script.
func scriptsOf(args []string) []string {
	var found []string
	option := false
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case slices.Contains(withoutFile, a):
			return found
		case slices.Contains(namesModule, a):
			if i+1 < len(args) {
				found = append(found, args[i+1])
			}
			return found
		case strings.HasPrefix(a, "-") && len(a) > 1:
			option = a != "--" && !strings.Contains(a, "=") && !slices.Contains(standAlone, a)
		case option:
			found = append(found, a)
			option = false
		case i == 1 && slices.Contains(leadingWords, a):
		default:
			return append(found, a)
		}
	}
	return found
}
