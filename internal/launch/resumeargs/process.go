package resumeargs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
)

// FromProcess reads an agent's own arguments out of the argument list its process shows: after the
// program, or after the script if an interpreter runs it. False if the list isn't this agent's, or
// is a shell's.
func FromProcess(a *agent.Agent, shown []string) (program string, args []string, ok bool) {
	if len(shown) == 0 {
		return "", nil, false
	}
	// Some set their title to one text with spaces in it.
	if isProgram(a, shown[0]) {
		return asWritten(shown[0]), shown[1:], true
	}
	if !slices.Contains(interpreters(), trimVersion(filepath.Base(shown[0]))) {
		return "", nil, false
	}
	for i, arg := range shown[1:] {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if isProgram(a, arg) {
			return "", shown[i+2:], true
		}
		// A value of the interpreter's own flag, or another program's script.
		if i > 4 {
			break
		}
	}
	return "", nil, false
}

func interpreters() []string { return []string{"node", "bun", "deno", "python", "MainThread"} }

func trimVersion(name string) string { return strings.TrimRight(name, "0123456789.") }

func isProgram(a *agent.Agent, path string) bool {
	base := filepath.Base(path)
	if slices.Contains(a.Marks.Programs, base) || base == a.Launch.Program {
		return true
	}
	return slices.ContainsFunc(a.Marks.Paths, func(mark string) bool { return strings.Contains(path, mark) })
}

// asWritten keeps a path only if the user wrote it: a program in a package's own folders moves
// with every upgrade.
func asWritten(program string) string {
	if !filepath.IsAbs(program) || strings.Contains(program, "/node_modules/") ||
		strings.Contains(program, "/versions/") || strings.Contains(program, "/releases/") {
		return ""
	}
	return program
}
