package importer

import (
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/shell"
)

// ofTheProject reports whether a command runs a file of whatever project the agent is in. For
// a project's own hooks, trust takes care of that; a hook that applies everywhere would run
// such a file unseen.
func ofTheProject(command string) bool {
	if strings.Contains(command, "CLAUDE_PROJECT_DIR") || strings.Contains(command, "HOOKMUX_PROJECT") {
		return true
	}
	script := shell.Parse(command)
	if !script.Readable() {
		return strings.Contains(command, "./")
	}
	relative := func(w shell.Word) bool {
		return strings.Contains(w.Text, "/") && !filepath.IsAbs(w.Text) && !w.Tilde &&
			!strings.HasPrefix(w.Text, "$") && !strings.Contains(w.Text, "://")
	}
	for i := range script.Runs {
		run := &script.Runs[i]
		if len(run.Argv) == 0 || run.Remote || run.Contained {
			continue
		}
		if relative(run.Argv[0]) {
			return true
		}
		for _, a := range run.Args() {
			if strings.HasPrefix(a.Text, "./") || strings.HasPrefix(a.Text, "../") {
				return true
			}
		}
		if runsFiles(run.Name()) {
			for _, a := range run.Args() {
				if strings.HasPrefix(a.Text, "-") {
					break // what follows may be an option's value, or code
				}
				if !filepath.IsAbs(a.Text) && !a.Tilde && !a.Dynamic {
					return true
				}
				break
			}
		}
	}
	return false
}

// runsFiles reports whether a program's first argument is code it runs.
func runsFiles(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "node", "nodejs", "perl", "ruby", "php", "bun", "lua", "tsx", "source", "":
		return true
	}
	return name == "." || shell.IsShell(name)
}
